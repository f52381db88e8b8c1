import type { AbsolutePath } from './absolute-path.js'
import type { Places } from './path-pattern.js'

const at = (text: string): AbsolutePath => text as AbsolutePath

/** Where workspace and home could lie to each other. The names in brackets are no pattern's. */
export const SYMBOLIC_PLACES: readonly Places[] = [
  { workspace: at('/home/<user>/<projects>/<group>/<workspace>'), home: at('/home/<user>') },
  { workspace: at('/srv/<above>/<projects>/<group>/<workspace>'), home: at('/home/<user>') },
  { workspace: at('/srv/<above>/<projects>/<group>/<workspace>'), home: at('/srv/<above>/<projects>/<group>/<workspace>/<home>') },
]
