// The findings of `cordon manifest verify`: their ids, and what each says.
import { createHash } from 'node:crypto'

import { canonicalJson } from '../../gate/index.js'
import type { JsonValue } from '../../gate/index.js'
import type { Witness } from '../../policy/index.js'
import { withoutUndefined } from '../../shapes/index.js'

import type { Sentence } from './sentence.js'

export const SEVERITIES = ['error', 'warning', 'info'] as const
export type Severity = (typeof SEVERITIES)[number]

interface FindingFacts {
  /** `info` never fails a check. */
  readonly severity: Severity
  readonly means: string
}

const error = (means: string): FindingFacts => ({ severity: 'error', means })
const warning = (means: string): FindingFacts => ({ severity: 'warning', means })
const info = (means: string): FindingFacts => ({ severity: 'info', means })

/** Every finding, in the order in which a report shows findings of one severity. */
export const FINDINGS = {
  'baseline.tampered': error('The hash of the baseline does not fit its content.'),
  'flow.exfiltration': error('An agent can newly be made to send private data, or by more of its tools.'),
  'tool.kind.weakened': error('The sandbox confines a tool less, or not at all.'),
  'tool.program.changed': error('A tool runs in another container image or runtime, or has another command line.'),
  'tool.exec.widened': error('A tool can start more programs.'),
  'tool.filesystem.write.widened': error('A tool can write more files.'),
  'tool.network.widened': error('A tool can send more requests.'),
  'tool.credential.widened': error('More requests carry a credential, or another value.'),
  'tool.filesystem.read.widened': error('A tool can read more files.'),
  'tool.environment.widened': error('A tool gets another variable or another value.'),
  'tool.added.high-risk': error('A tool of the risk high, critical or unknown is new.'),
  'tool.added': warning('A tool is new.'),
  'tool.risk.increased': error('The risk of a tool is higher, or no longer known.'),
  'tool.approval.loosened': error('Calls run that a person approved or a rule denied before.'),
  'tool.constraint.loosened': error('A tool may run more often, earlier or with more arguments.'),
  'tool.limit.raised': warning('A limit of a tool is higher or gone.'),
  'tool.require.dropped': error('A tool runs without a mechanism that it required.'),
  'mcp.server.added': error('An MCP server is new, or another one has its name.'),
  'mcp.pin.changed': error('The pin of an MCP server is another one or gone.'),
  'mode.loosened': error('The mode of an agent runs calls that it asked about or refused before.'),
  'rule.removed': error('A rule that denies or asks is gone, or matches fewer calls.'),
  'budget.raised': warning('A budget of an agent is higher or gone.'),
  'tag.added': warning('A tag covers more files or hosts, so fewer ways for data are shown.'),
  'manifest.version.changed': info('The registry has another version of a tool.'),
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

interface Said {
  readonly sentence: Sentence
  /** What the fingerprint covers. */
  readonly change: unknown
  readonly witnesses?: readonly Witness[]
  readonly more?: readonly Sentence[]
}

export const makeFinding = (
  id: FindingId,
  { agent, server, tool, source }: Owner,
  { sentence, change, witnesses = [], more = [] }: Said,
): Finding => ({
  id,
  severity: FINDINGS[id].severity,
  ...withoutUndefined({ agent, server, tool, source }),
  sentence,
  witnesses,
  more,
  fingerprint: fingerprintOf([id, agent ?? null, server ?? null, tool ?? null, change]),
})

/** Changed whenever the same finding would get another fingerprint. */
const FORM = 'cordon-finding/1'

/**
 * The same for the same change of the same tool, wherever it is written. `change` has both sides of everything that
 * could make the finding worse, so a later, wider change has another fingerprint (decision 35).
 */
const fingerprintOf = (parts: readonly unknown[]): string =>
  createHash('sha256')
    .update(canonicalJson([FORM, ...parts] as JsonValue))
    .digest('hex')
    .slice(0, 32)
