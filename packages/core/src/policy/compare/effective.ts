import type { AbsolutePath } from '../glob/absolute-path.js'
import { ROOT_PATH } from '../glob/absolute-path.js'
import type { Boundary, EnvironmentEntry, FileGrants, Limits, ToolKind, ToolPolicy } from '../model.js'
import type { WriteGrants } from './files-within.js'
import { DEFAULT_LIMITS, TOOL_KINDS, isSandboxedKind } from '../model.js'
import { isCarvedOut } from '../glob/matches.js'
import type { PathPattern, Places } from '../glob/path-pattern.js'
import { exactPattern, literalPattern } from '../glob/path-pattern.js'
import { resolvePolicy, resolveStance } from '../resolve/resolve-policy.js'
import type { Stance, StanceSection } from '../resolve/resolve-policy.js'

/** What a tool can do in fact: everything in a section without a stance that no sandbox enforces. */
export interface Effective {
  readonly kind: ToolKind
  readonly boundary: Boundary
  /** Apart from `writing`: a policy that omits `write` does not grant that everything may be read. */
  readonly reading: FileGrants
  readonly writing: WriteGrants
  /** Those of the policy, and the placeholders of credentials. */
  readonly environment: 'any' | readonly EnvironmentEntry[]
  readonly limits: Limits
}

export const effectiveOf = (given: ToolPolicy | Boundary, context: Places & { readonly kind: ToolKind }): Effective => {
  const { kind, ...places } = context
  if (!('filesystem' in given)) return ofBoundary(given, kind)
  return isSandboxedKind(kind)
    ? ofBoundary(resolvePolicy(given, { ...places, kind }), kind)
    : ofStance(resolveStance(given, places), kind)
}

const ofBoundary = (boundary: Boundary, kind: ToolKind): Effective => ({
  kind,
  boundary,
  reading: { ...boundary, presetRead: [...boundary.presetRead, ...listedPrograms(boundary)] },
  writing: { ...boundary, holdsProtected: true },
  environment: [...boundary.environment, ...placeholdersOf(boundary)],
  limits: TOOL_KINDS[kind].startsProcess ? { ...DEFAULT_LIMITS, ...boundary.limits } : boundary.limits,
})

/** A cell shows the tool each program that it may start. Where programs are given by name is not known here. */
const listedPrograms = ({ exec, write }: Boundary): readonly PathPattern[] => {
  const programs = exec.kind === 'list' ? exec.programs : []
  // A carve-out wins: the policy is refused when it is used.
  return programs.flatMap((name, at) => {
    const path = name as AbsolutePath
    return name.startsWith('/') && !isCarvedOut(write, path)
      ? [{ ...exactPattern(path), text: `program ${String(at)}` }]
      : []
  })
}

const placeholdersOf = ({ credentials }: Boundary): readonly EnvironmentEntry[] =>
  credentials.flatMap(({ placeholder }) =>
    placeholder === undefined ? [] : [{ name: placeholder.name, value: { kind: 'set', text: placeholder.text } }],
  )

const ofStance = ({ boundary, noStance }: Stance, kind: ToolKind): Effective => {
  const isOpen = (section: StanceSection) => noStance.includes(section)
  const everything = [literalPattern(ROOT_PATH)]
  const { read, write, presetRead, egressClass } = boundary
  return {
    kind,
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
    environment: isOpen('environment') ? 'any' : [...boundary.environment, ...placeholdersOf(boundary)],
    limits: boundary.limits,
  }
}
