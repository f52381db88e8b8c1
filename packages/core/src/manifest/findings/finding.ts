// The findings of `cordon manifest verify`: their ids, and what each says.
import type { Witness } from '../../policy/index.js'
import type { Sentence } from './sentence.js'

export const SEVERITIES = ['error', 'warning', 'info'] as const
export type Severity = (typeof SEVERITIES)[number]

interface FindingFacts {
  /** `info` never fails a check. */
  readonly severity: Severity
  readonly means: string
}

/** Every finding, in the order in which a report shows findings of one severity. */
export const FINDINGS = {
  'baseline.tampered': { severity: 'error', means: 'The hash of the baseline does not fit its content.' },
  'flow.exfiltration': {
    severity: 'error',
    means: 'An agent can newly be made to send private data, or by more of its tools.',
  },
  'tool.kind.weakened': { severity: 'error', means: 'The sandbox confines a tool less, or not at all.' },
  'tool.program.changed': {
    severity: 'error',
    means: 'A tool runs in another container image or runtime, or has another command line.',
  },
  'tool.exec.widened': { severity: 'error', means: 'A tool can start more programs.' },
  'tool.filesystem.write.widened': { severity: 'error', means: 'A tool can write more files.' },
  'tool.network.widened': { severity: 'error', means: 'A tool can send more requests.' },
  'tool.credential.widened': { severity: 'error', means: 'More requests carry a credential, or another value.' },
  'tool.filesystem.read.widened': { severity: 'error', means: 'A tool can read more files.' },
  'tool.environment.widened': { severity: 'error', means: 'A tool gets another variable or another value.' },
  'tool.added.high-risk': { severity: 'error', means: 'A tool of the risk high, critical or unknown is new.' },
  'tool.added': { severity: 'warning', means: 'A tool is new.' },
  'tool.risk.increased': { severity: 'error', means: 'The risk of a tool is higher, or no longer known.' },
  'tool.approval.loosened': { severity: 'error', means: 'Calls run that a person approved or a rule denied before.' },
  'tool.constraint.loosened': {
    severity: 'error',
    means: 'A tool may run more often, earlier or with more arguments.',
  },
  'tool.limit.raised': { severity: 'warning', means: 'A limit of a tool is higher or gone.' },
  'tool.require.dropped': { severity: 'error', means: 'A tool runs without a mechanism that it required.' },
  'mcp.server.added': { severity: 'error', means: 'An MCP server is new, or another one has its name.' },
  'mcp.pin.changed': { severity: 'error', means: 'The pin of an MCP server is another one or gone.' },
  'mode.loosened': {
    severity: 'error',
    means: 'The mode of an agent runs calls that it asked about or refused before.',
  },
  'rule.removed': { severity: 'error', means: 'A rule that denies or asks is gone, or matches fewer calls.' },
  'budget.raised': { severity: 'warning', means: 'A budget of an agent is higher or gone.' },
  'tag.added': { severity: 'warning', means: 'A tag covers more files or hosts, so fewer ways for data are shown.' },
  'manifest.version.changed': { severity: 'info', means: 'The registry has another version of a tool.' },
} as const satisfies Readonly<Record<string, FindingFacts>>

export type FindingId = keyof typeof FINDINGS
export const FINDING_IDS = Object.keys(FINDINGS) as readonly FindingId[]

/** Whose finding it is. */
export interface Owner {
  /** Undefined: of the whole manifest. */
  readonly agent?: string
  readonly server?: string
  readonly tool?: string
  /** `agents/support.ts:12` */
  readonly source?: string
}

export interface Finding extends Owner {
  readonly id: FindingId
  readonly severity: Severity
  readonly sentence: Sentence
  /** One for each added grant. */
  readonly witnesses: readonly Witness[]
  /** Sentences about the witnesses after the first. */
  readonly more: readonly Sentence[]
  readonly fingerprint: string
}
