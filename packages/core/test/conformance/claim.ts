// The shape of a claim. In every text of a claim `@/` stands for the folder that the claim has to itself.
import type { LimitKind, Violation } from '../../src/sandbox/index.js'

import type { Stage } from './stage.js'

/** As a policy file would say it. */
export interface PolicyText {
  readonly filesystem?: { readonly read?: readonly string[]; readonly write?: readonly string[] }
  readonly network?: 'none' | 'all' | readonly string[]
  readonly environment?: readonly string[]
  readonly exec?: 'none' | 'all' | readonly string[]
  readonly limits?: Readonly<Record<string, string | number>>
  readonly presets?: readonly string[]
  readonly require?: readonly string[]
}

/** What lies in the folder before the call: a text is a file, a name that ends in a slash is a folder. */
export type Given = Readonly<Record<string, string | { readonly link: string } | { readonly program: string }>>

/**
 * One thing that a tool may try, and the path it tries it on (`rename` and `link`: to `path.moved` and `path.linked`;
 * `remove`: a file).
 */
export type Attempt = readonly [
  'read' | 'list' | 'see' | 'write' | 'create' | 'mkdir' | 'remove' | 'rename' | 'link' | 'execute',
  string,
]

/** Its kind, and as much of the rest as matters. */
type Expected<Each extends Violation> = Each extends Violation ? Pick<Each, 'kind'> & Partial<Each> : never

export interface Ending {
  /** 0 unless something else is said. */
  readonly exitCode?: number
  readonly signal?: number
  readonly limit?: LimitKind
  readonly stdout?: string
  readonly stderr?: string
  /** It may end by itself or be ended: what counts is what it leaves. */
  readonly anyEnd?: true
  readonly violations?: readonly Expected<Violation>[]
}

export interface Refusal {
  readonly refused: string
  /** Part of what the error says is the way out. */
  readonly fix?: string
}

interface Call {
  readonly given?: Given
  readonly policy?: PolicyText
  readonly cwd?: string
  readonly stdin?: string
  readonly hostEnvironment?: Readonly<Record<string, string>>
}

/** A call, and how it ends. */
export interface RunClaim extends Call {
  readonly claim: string
  /** A command, or a text for /bin/sh. */
  readonly run: readonly string[] | string
  readonly then: Ending | Refusal
  /** What the host finds afterwards: the content of files, null for what must not be there. */
  readonly leaves?: Readonly<Record<string, string | null>>
}

/** What a tool can and cannot do within a boundary; the host's view afterwards must agree. */
export interface AccessClaim extends Call {
  readonly claim: string
  readonly can: readonly Attempt[]
  readonly cannot: readonly Attempt[]
}

/** What takes more than one call. */
export interface StoryClaim {
  readonly claim: string
  readonly given?: Given
  readonly tell: (stage: Stage) => Promise<void>
}

export type Claim = RunClaim | AccessClaim | StoryClaim

export interface Area {
  readonly title: string
  readonly claims: readonly Claim[]
}

export const area = (title: string, claims: readonly Claim[]): Area => ({ title, claims })
