import type { AbsolutePath } from '../glob/absolute-path.js'
import type { Boundary } from '../boundary.js'
import type { ToolPolicy } from '../model.js'
import type { PathGlob } from '../glob/path-glob.js'
import type { Places } from '../glob/path-pattern.js'
import { PRESETS } from '../resolve/presets.js'

const at = (text: string): AbsolutePath => text as AbsolutePath

/** The possible positions of workspace and home. No pattern has the names in brackets. */
const SYMBOLIC_PLACES: readonly [Places, ...Places[]] = [
  { workspace: at('/home/<user>/<projects>/<group>/<workspace>'), home: at('/home/<user>') },
  { workspace: at('/srv/<above>/<projects>/<group>/<workspace>'), home: at('/home/<user>') },
  {
    workspace: at('/srv/<above>/<projects>/<group>/<workspace>'),
    home: at('/srv/<above>/<projects>/<group>/<workspace>/<home>'),
  },
]

/** All of them, or one if nothing depends on the position. */
export const placesToTry = (...given: readonly (ToolPolicy | Boundary)[]): readonly Places[] =>
  given.some(dependsOnPlaces) ? SYMBOLIC_PLACES : [SYMBOLIC_PLACES[0]]

const dependsOnPlaces = (given: ToolPolicy | Boundary): boolean => {
  if (!('filesystem' in given)) return false
  const { filesystem, exec, presets } = given
  const globs = [filesystem.read, filesystem.write].flatMap((section) => (section.kind === 'list' ? section.items : []))
  const programs =
    exec.kind === 'list' ? exec.items.flatMap((program) => (program.kind === 'path' ? [program.glob] : [])) : []
  const presetPaths = presets.flatMap((name) => [...PRESETS[name].read, ...PRESETS[name].write])
  return [...globs, ...programs].some(isRelative) || presetPaths.some((path) => !path.startsWith('/'))
}

const isRelative = ({ alternatives }: PathGlob): boolean => alternatives.some(({ anchor }) => anchor !== 'root')
