import { bug } from '../../errors/index.js'
import { SAFE_METHODS, TOOL_KINDS, itemsIn } from '../model.js'
import type { DeclaredOrDerived, Boundary, EgressClass, FileGrants, PresetName, ProgramGrant, Risk } from '../model.js'
import type { SandboxedKind, Section, ToolPolicy } from '../model.js'
import type { RequestScope } from '../credential.js'
import { ROOT_PATH } from '../glob/absolute-path.js'
import { parsePathGlob } from '../glob/path-glob.js'
import type { PathGlob } from '../glob/path-glob.js'
import { bindGlob } from '../glob/path-pattern.js'
import type { PathPattern, Places } from '../glob/path-pattern.js'
import type { HostGrant } from '../network/host-grant.js'
import { once } from '../get-or-add.js'
import { PRESETS } from './presets.js'

export interface ResolveContext extends Places {
  /** Decides what an omitted `exec` means. */
  readonly kind: SandboxedKind
}

/** Read once, and bound once if it is the same in all places, because a comparison of policies tries many places. */
const presetPath = (text: string, preset: PresetName): ((places: Places) => readonly PathPattern[]) => {
  const glob = parsePathGlob(text, `preset ${preset}`)
  if (glob.alternatives.some(({ anchor }) => anchor !== 'root')) return (places) => bindGlob(glob, places)
  const bound = bindGlob(glob, { workspace: ROOT_PATH, home: ROOT_PATH })
  return () => bound
}

/** Each when a policy first has the preset. */
const pathsOf = (name: PresetName) => ({
  read: once(() => PRESETS[name].read.map((text) => presetPath(text, name))),
  write: once(() => PRESETS[name].write.map((text) => presetPath(text, name))),
})

const PRESET_PATHS = {
  system: pathsOf('system'),
  toolchains: pathsOf('toolchains'),
  workspace: pathsOf('workspace'),
} as const satisfies Readonly<Record<PresetName, unknown>>

/** The patterns of presets are the same objects for all policies, so that a comparison can skip them. */
export const boundPresets = (
  presets: readonly PresetName[],
  access: 'read' | 'write',
  places: Places,
): readonly PathPattern[] => presets.flatMap((name) => PRESET_PATHS[name][access]().flatMap((path) => path(places)))

/** Decides the omitted sections (`none`, except `exec` of a process) and binds the globs. */
export const resolvePolicy = (policy: ToolPolicy, context: ResolveContext): Boundary => {
  const boundary = {
    ...resolveFiles(policy, context),
    ...requestScopeOf(policy),
    environment: itemsIn(policy.environment),
    credentials: policy.credentials,
    exec: resolveExec(policy.exec, context),
    limits: policy.limits,
    presets: presetsOf(policy),
    require: policy.require,
  }
  return { ...boundary, risk: assessRisk(policy, boundary) }
}

const presetsOf = ({ presets }: ToolPolicy): readonly PresetName[] => [
  'system',
  ...presets.filter((name) => name !== 'system'),
]

export const resolveFiles = (policy: ToolPolicy, places: Places): FileGrants => {
  const presets = presetsOf(policy)
  return {
    read: bindAll(policy.filesystem.read, places),
    write: [...boundPresets(presets, 'write', places), ...bindAll(policy.filesystem.write, places)],
    presetRead: boundPresets(presets, 'read', places),
  }
}

const bindAll = (section: Section<PathGlob>, places: Places): readonly PathPattern[] =>
  itemsIn(section).flatMap((glob) => bindGlob(glob, places))

const resolveExec = (exec: ToolPolicy['exec'], context: ResolveContext): Boundary['exec'] => {
  if (exec.kind === 'list')
    return { kind: 'list', programs: exec.items.map((program) => programText(program, context)) }
  return { kind: exec.kind === 'unspecified' ? TOOL_KINDS[context.kind].execByDefault : exec.kind }
}

const programText = (program: ProgramGrant, places: Places): string =>
  program.kind === 'name'
    ? program.name
    : (bindGlob(program.glob, places)[0]?.base ?? bug('a program grant without a path'))

/** The requests that a policy allows. The egress class is derived where its author omitted it. */
export const requestScopeOf = ({
  network,
  egressClass,
}: Pick<ToolPolicy, 'network' | 'egressClass'>): RequestScope => ({
  network:
    network.kind === 'list'
      ? { kind: 'hosts', entries: network.items }
      : { kind: network.kind === 'all' ? 'all' : 'none' },
  egressClass:
    egressClass.kind === 'declared'
      ? { level: egressClass.level, derived: false }
      : { level: classOf(network), derived: true },
})

const classOf = (network: ToolPolicy['network']): EgressClass => {
  if (network.kind === 'all') return 'write'
  const grants = itemsIn(network).filter(({ action }) => action !== 'deny')
  if (grants.length === 0) return 'none'
  return grants.every(onlyReads) ? 'read_only' : 'write'
}

const onlyReads = ({ action, methods }: HostGrant): boolean =>
  action === 'allow' && methods.kind === 'list' && methods.items.every((method) => SAFE_METHODS.includes(method))

/** As high as the effects that the boundary permits. Only people declare `critical` and `unknown`. */
const assessRisk = (
  { risk }: Pick<ToolPolicy, 'risk'>,
  boundary: Pick<Boundary, 'write' | 'network' | 'egressClass' | 'exec'>,
): DeclaredOrDerived<Risk> => {
  if (risk.kind === 'declared') return { level: risk.level, derived: false }
  const { write, network, egressClass, exec } = boundary
  const egress = network.kind === 'none' ? 'none' : egressClass.level
  if (egress === 'write' || (egress !== 'none' && exec.kind === 'all')) return { level: 'high', derived: true }
  const changesFiles = write.some(({ negated }) => !negated)
  return { level: changesFiles || egress !== 'none' ? 'medium' : 'low', derived: true }
}

const STANCE_SECTIONS = ['read', 'write', 'network', 'environment', 'exec'] as const
export type StanceSection = (typeof STANCE_SECTIONS)[number]

/**
 * The policy of a tool that runs in the agent's own process, where no sandbox enforces it. The gate compares arguments
 * with the sections that it has.
 */
export interface Stance {
  /** A section in `noStance` is empty here, which has no meaning. */
  readonly boundary: Boundary
  readonly noStance: readonly StanceSection[]
}

export const resolveStance = (policy: ToolPolicy, places: Places): Stance => {
  const boundary = resolvePolicy(policy, { ...places, kind: 'function' })
  const noStance = undeclaredSections(policy, boundary)
  // A function that declares nothing about its changes may change anything, so its risk is not low.
  const isOpen = (['write', 'network', 'exec'] as const).some((name) => noStance.includes(name))
  const risk = boundary.risk.derived && isOpen ? ({ level: 'unknown', derived: true } as const) : boundary.risk
  return { boundary: { ...boundary, risk }, noStance }
}

/** The sections that a policy omits: neither "none" nor a list. The argument gate does not use them. */
export const undeclaredSections = (policy: ToolPolicy, boundary: Boundary): readonly StanceSection[] => {
  const sections = { ...policy.filesystem, network: policy.network, environment: policy.environment, exec: policy.exec }
  // A preset that grants writing declares `write`.
  return STANCE_SECTIONS.filter(
    (name) => sections[name].kind === 'unspecified' && !(name === 'write' && boundary.write.length > 0),
  )
}
