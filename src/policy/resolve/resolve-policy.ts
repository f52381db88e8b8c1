import { bug } from '../../errors/index.js'

import { assessEgressClass, assessRisk } from './assess.js'
import type { Boundary } from '../boundary.js'
import { TOOL_KINDS } from '../model.js'
import type { PresetName, ProgramGrant, SandboxedKind, Section, ToolPolicy } from '../model.js'
import { parsePathGlob } from '../glob/path-glob.js'
import type { PathGlob } from '../glob/path-glob.js'
import { bindGlob } from '../glob/path-pattern.js'
import type { PathPattern, Places } from '../glob/path-pattern.js'
import { PRESETS } from './presets.js'

export interface ResolveContext extends Places {
  /** Decides what an omitted `exec` means. */
  readonly kind: SandboxedKind
}

/** Decides the omitted sections (`none`, except `exec` of a process) and binds the globs. */
export const resolvePolicy = (policy: ToolPolicy, context: ResolveContext): Boundary => {
  const presets: readonly PresetName[] = ['system', ...policy.presets.filter((name) => name !== 'system')]
  const presetPaths = (access: 'read' | 'write') =>
    presets.flatMap((name) =>
      PRESETS[name][access].flatMap((glob) => bindGlob(parsePathGlob(glob, `preset ${name}`), context)),
    )
  const boundary = {
    read: bindAll(policy.filesystem.read, context),
    write: [...presetPaths('write'), ...bindAll(policy.filesystem.write, context)],
    presetRead: presetPaths('read'),
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
