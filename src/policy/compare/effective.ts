import { ROOT_PATH } from '../glob/absolute-path.js'
import type { Boundary, FileGrants } from '../boundary.js'
import type { WriteGrants } from './files-within.js'
import { isSandboxedKind } from '../model.js'
import type { ToolKind, ToolPolicy } from '../model.js'
import type { Places } from '../glob/path-pattern.js'
import { literalPattern } from '../glob/path-pattern.js'
import { resolvePolicy } from '../resolve/resolve-policy.js'
import { resolveStance } from '../stance.js'
import type { Stance, StanceSection } from '../stance.js'

/** What a tool can do in fact: everything in a section without a stance that no sandbox enforces. */
export interface Effective {
  readonly boundary: Boundary
  /** Apart from `writing`: a policy that omits `write` does not grant that everything may be read. */
  readonly reading: FileGrants
  readonly writing: WriteGrants
  readonly anyVariable: boolean
}

export const effectiveOf = (given: ToolPolicy | Boundary, context: Places & { readonly kind: ToolKind }): Effective => {
  if (!('filesystem' in given)) return ofBoundary(given)
  const { kind, ...places } = context
  return isSandboxedKind(kind)
    ? ofBoundary(resolvePolicy(given, { ...places, kind }))
    : ofStance(resolveStance(given, places))
}

const ofBoundary = (boundary: Boundary): Effective => ({
  boundary,
  reading: boundary,
  writing: { ...boundary, holdsProtected: true },
  anyVariable: false,
})

const ofStance = ({ boundary, noStance }: Stance): Effective => {
  const isOpen = (section: StanceSection) => noStance.includes(section)
  const everything = [literalPattern(ROOT_PATH)]
  const { read, write, presetRead, egressClass } = boundary
  return {
    boundary: {
      ...boundary,
      network: isOpen('network') ? { kind: 'all' } : boundary.network,
      egressClass: isOpen('network') && egressClass.derived ? { level: 'write', derived: true } : egressClass,
      exec: isOpen('exec') ? { kind: 'all' } : boundary.exec,
    },
    reading: { read: isOpen('read') ? everything : read, write, presetRead },
    writing: isOpen('write')
      ? { read: [], write: everything, presetRead, holdsProtected: false }
      : { read, write, presetRead, holdsProtected: true },
    anyVariable: isOpen('environment'),
  }
}
