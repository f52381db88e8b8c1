// A policy in its normal form, and the fixed words of policies: risks, egress classes, presets, mechanisms, forms,
// backends, tool kinds.
import type { Credential, RequestScope } from './credential.js'
import type { HostGrant } from './network/host-grant.js'
import type { PathGlob } from './glob/path-glob.js'
import type { PathPattern } from './glob/path-pattern.js'

type Unspecified = { readonly kind: 'unspecified' }
export type None = { readonly kind: 'none' }
export type All = { readonly kind: 'all' }
export type List<Item> = { readonly kind: 'list'; readonly items: readonly Item[] }

type Declared<Level> = { readonly kind: 'declared'; readonly level: Level }

/** An omitted section is `unspecified`, which never means "everything". */
export type Section<Item> = Unspecified | None | List<Item>

export const itemsIn = <Item>(section: Section<Item> | All): readonly Item[] =>
  section.kind === 'list' ? section.items : []

export const RISKS = ['low', 'medium', 'high', 'critical', 'unknown'] as const
export type Risk = (typeof RISKS)[number]

/** How much a tool may change outside: nothing reachable, requests that only read, or anything its hosts allow. */
export const EGRESS_CLASSES = ['none', 'read_only', 'write'] as const
export type EgressClass = (typeof EGRESS_CLASSES)[number]

/** The methods that `read_only` allows. */
export const SAFE_METHODS: readonly string[] = ['GET', 'HEAD', 'OPTIONS']

/** A level that the policy declares, or that is derived from the rest of it. */
export interface DeclaredOrDerived<Level> {
  readonly level: Level
  readonly derived: boolean
}

/** `pass`: the value of the host. `set`: the given text. */
export interface EnvironmentEntry {
  readonly name: string
  readonly value: { readonly kind: 'pass' } | { readonly kind: 'set'; readonly text: string }
}

/** A program by its bare name (looked up when the cell starts) or by its path. */
export type ProgramGrant =
  { readonly kind: 'name'; readonly name: string } | { readonly kind: 'path'; readonly glob: PathGlob }

/** Sizes in bytes, durations in milliseconds. An omitted limit is not set. */
export interface Limits {
  readonly memory?: number
  readonly processes?: number
  readonly cpu?: number
  readonly wall?: number
  readonly output?: number
  readonly openFiles?: number
  readonly fileSize?: number
  readonly scratch?: number
}

/** Of a tool without `limits.output`, at least: more if its result may be larger. `cordon run` has no such limit. */
export const DEFAULT_OUTPUT_BYTES = 4 * 1024 * 1024

/** The limits of a cell whose policy omits them. */
export const DEFAULT_LIMITS = { processes: 1024, scratch: 256 * 1024 * 1024 } as const satisfies Limits

export const PRESET_NAMES = ['system', 'toolchains', 'workspace'] as const
export type PresetName = (typeof PRESET_NAMES)[number]

/** The mechanisms that enforce a boundary, by their names in profiles and `require`. */
export const MECHANISMS = [
  'user-namespace',
  'mount-namespace',
  'pid-namespace',
  'network-namespace',
  'ipc-namespace',
  'uts-namespace',
  'landlock',
  'seccomp',
  'seccomp-listener',
  'cgroup',
  'rlimit',
  'broker',
] as const
export type Mechanism = (typeof MECHANISMS)[number]

/**
 * How a cell is built. `landlock` is for hosts that refuse user namespaces. `mounts` is the `namespaces` form without
 * Landlock, for hosts that lack it.
 */
export const FORMS = ['namespaces', 'landlock', 'mounts'] as const
export type Form = (typeof FORMS)[number]

export const WALLS = ['bubblewrap', 'firejail'] as const
export type WallName = (typeof WALLS)[number]

/** Who builds a cell on Linux. `native`: the launcher alone. */
export const LINUX_BACKENDS = ['native', ...WALLS] as const
export type LinuxBackend = (typeof LINUX_BACKENDS)[number]
/** `seatbelt`: macOS. */
export const BACKENDS = [...LINUX_BACKENDS, 'seatbelt'] as const
export type BackendName = (typeof BACKENDS)[number]

interface ToolKindFacts {
  /** In a cell, or in the agent's own process, where only the gate checks it. */
  readonly runs: 'sandboxed' | 'in-process'
  /** The meaning of an omitted `exec`. */
  readonly execByDefault: 'all' | 'none'
  /** Whether a call is a process of its own, whose end can be observed. */
  readonly startsProcess: boolean
}

/** The kinds of tools. Each declares how it runs, so that no kind is sandboxed, or not, by default. */
export const TOOL_KINDS = {
  // A shell or a build is useless without `exec`, and the cell confines it either way.
  'process': { runs: 'sandboxed', execByDefault: 'all', startsProcess: true },
  'function': { runs: 'sandboxed', execByDefault: 'none', startsProcess: true },
  // Sent to a server that runs in a cell already.
  'mcp': { runs: 'sandboxed', execByDefault: 'all', startsProcess: false },
  'in-process': { runs: 'in-process', execByDefault: 'none', startsProcess: false },
} as const satisfies Readonly<Record<string, ToolKindFacts>>

export type ToolKind = keyof typeof TOOL_KINDS
export type SandboxedKind = {
  [Kind in ToolKind]: (typeof TOOL_KINDS)[Kind]['runs'] extends 'sandboxed' ? Kind : never
}[ToolKind]

export const isSandboxedKind = (kind: ToolKind): kind is SandboxedKind => TOOL_KINDS[kind].runs === 'sandboxed'

/** Every section is present, every value is parsed. */
export interface ToolPolicy {
  readonly risk: Unspecified | Declared<Risk>
  readonly filesystem: { readonly read: Section<PathGlob>; readonly write: Section<PathGlob> }
  readonly network: Section<HostGrant> | All
  /** With `read_only`, entries of `network` have their methods already. `all` has none. */
  readonly egressClass: Unspecified | Declared<EgressClass>
  readonly environment: Section<EnvironmentEntry>
  /** The proxy puts their values into requests. The tool never gets them. */
  readonly credentials: readonly Credential[]
  readonly exec: Section<ProgramGrant> | All
  readonly limits: Limits
  readonly presets: readonly PresetName[]
  readonly require: readonly Mechanism[]
}

export interface FileGrants {
  /** Grants and carve-outs (`negated`), in the order of the policy. */
  readonly read: readonly PathPattern[]
  readonly write: readonly PathPattern[]
  /** Paths of presets, which may be missing on the host. Carve-outs of `read` apply to them too. */
  readonly presetRead: readonly PathPattern[]
}

/** A policy applied to one place, with every omitted section decided. */
export interface Boundary extends FileGrants, RequestScope {
  readonly environment: readonly EnvironmentEntry[]
  readonly credentials: readonly Credential[]
  /** Programs are absolute paths, or bare names that are looked up when the cell starts. */
  readonly exec:
    | { readonly kind: 'none' }
    | { readonly kind: 'all' }
    | { readonly kind: 'list'; readonly programs: readonly string[] }
  readonly limits: Limits
  readonly presets: readonly PresetName[]
  readonly require: readonly Mechanism[]
  readonly risk: DeclaredOrDerived<Risk>
}
