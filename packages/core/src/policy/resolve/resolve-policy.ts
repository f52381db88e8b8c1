import { bug } from '../../errors/index.js'

import { assessEgressClass, assessRisk } from './assess.js'
import type { Boundary } from '../boundary.js'
import { TOOL_KINDS } from '../model.js'
import type { PresetName, ProgramGrant, SandboxedKind, Section, ToolPolicy } from '../model.js'
import { ROOT_PATH } from '../glob/absolute-path.js'
import { parsePathGlob } from '../glob/path-glob.js'
import type { PathGlob } from '../glob/path-glob.js'
import { bindGlob } from '../glob/path-pattern.js'
import type { PathPattern, Places } from '../glob/path-pattern.js'
import { PRESETS } from './presets.js'

export interface ResolveContext extends Places {
  /** Decides what an omitted `exec` means. */
  readonly kind: SandboxedKind
}

interface PresetPaths {
  /** The same in all places. */
  readonly bound: readonly PathPattern[]
  readonly globs: readonly PathGlob[]
}

/** Read once, and bound once if possible, because a comparison of policies needs them for many places. */
const presetPaths = (texts: readonly string[], preset: PresetName): PresetPaths => {
  const globs = texts.map((text) => parsePathGlob(text, `preset ${preset}`))
  const isFixed = ({ alternatives }: PathGlob) => alternatives.every(({ anchor }) => anchor === 'root')
  const nowhere = { workspace: ROOT_PATH, home: ROOT_PATH }
  return {
    bound: globs.filter(isFixed).flatMap((glob) => bindGlob(glob, nowhere)),
    globs: globs.filter((glob) => !isFixed(glob)),
  }
}

const pathsOf = (name: PresetName) => ({
  read: presetPaths(PRESETS[name].read, name),
  write: presetPaths(PRESETS[name].write, name),
})

const PRESET_PATHS = {
  system: pathsOf('system'),
  toolchains: pathsOf('toolchains'),
  workspace: pathsOf('workspace'),
} as const satisfies Readonly<Record<PresetName, unknown>>

/** The patterns of presets are the same objects for all policies, so that a comparison can skip them. */
const boundPresets = (
  presets: readonly PresetName[],
  access: 'read' | 'write',
  places: Places,
): readonly PathPattern[] =>
  presets.flatMap((name) => {
    const { bound, globs } = PRESET_PATHS[name][access]
    return globs.length === 0 ? bound : [...globs.flatMap((glob) => bindGlob(glob, places)), ...bound]
  })

/** Decides the omitted sections (`none`, except `exec` of a process) and binds the globs. */
export const resolvePolicy = (policy: ToolPolicy, context: ResolveContext): Boundary => {
  const presets: readonly PresetName[] = ['system', ...policy.presets.filter((name) => name !== 'system')]
  const boundary = {
    read: bindAll(policy.filesystem.read, context),
    write: [...boundPresets(presets, 'write', context), ...bindAll(policy.filesystem.write, context)],
    presetRead: boundPresets(presets, 'read', context),
    network: resolveNetwork(policy.network),
    egressClass: assessEgressClass(policy),
    environment: policy.environment.kind === 'list' ? policy.environment.items : [],
    credentials: policy.credentials,
    exec: resolveExec(policy.exec, context),
    limits: policy.limits,
    presets,
    require: policy.require,
  }
  return { ...boundary, risk: assessRisk(policy, boundary) }
}

const bindAll = (section: Section<PathGlob>, places: Places): readonly PathPattern[] =>
  section.kind === 'list' ? section.items.flatMap((glob) => bindGlob(glob, places)) : []

export const resolveNetwork = (network: ToolPolicy['network']): Boundary['network'] => {
  switch (network.kind) {
    case 'unspecified':
    case 'none':
      return { kind: 'none' }
    case 'all':
      return { kind: 'all' }
    case 'list':
      return { kind: 'hosts', entries: network.items }
  }
}

const resolveExec = (exec: ToolPolicy['exec'], context: ResolveContext): Boundary['exec'] => {
  switch (exec.kind) {
    case 'unspecified':
      return { kind: TOOL_KINDS[context.kind].execByDefault }
    case 'none':
      return { kind: 'none' }
    case 'all':
      return { kind: 'all' }
    case 'list':
      return { kind: 'list', programs: exec.items.map((program) => programText(program, context)) }
  }
}

const programText = (program: ProgramGrant, places: Places): string =>
  program.kind === 'name'
    ? program.name
    : (bindGlob(program.glob, places)[0]?.base ?? bug('a program grant without a path'))
