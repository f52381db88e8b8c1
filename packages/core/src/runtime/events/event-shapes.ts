// Declares every event. The types of events and schemas/event.schema.json come from these declarations.
import { DECISIONS, HOOK_POINTS } from '../../gate/index.js'
import type { PermissionDecision, PermissionState } from '../../gate/index.js'
import { RISKS } from '../../policy/index.js'
import { LIMIT_KINDS } from '../../sandbox/index.js'
import type { SandboxProfile, UnconfinedProfile } from '../../sandbox/index.js'
import {
  amount,
  count,
  described,
  fields,
  filled,
  hash,
  isMapping,
  list,
  oneOf,
  optional,
  orNull,
  record,
  recordFile,
  such,
  text,
  time,
  whole,
  yesOrNo,
} from '../../shapes/index.js'
import type { Read, Schema, Shape, Shapes } from '../../shapes/index.js'

import { EGRESS_SUMMARY, EVENT_TYPES, PORT, RECORDED_ARGUMENTS, USAGE, VIOLATION } from './event-parts.js'
import type { EventType } from './event-parts.js'

/** A record with a file of its own. */
const elsewhere = <Value>(name: string): Shape<Value> =>
  such('a record', isMapping, { schema: { $ref: `${name}.schema.json` } })

const permission_state = elsewhere<PermissionState>('permission_state')

/** The tool of an event, and the decision about it. */
const OF_CALL = { tool: filled(), decision_id: orNull(text()) }
const OF_HOOK = { hook: filled(), point: oneOf(...HOOK_POINTS), tool: orNull(text()) }
const OF_CONNECTION = {
  ...OF_CALL,
  connection: described('Counts the connections of a call.', count(1)),
  host: filled(),
  port: PORT,
}
const PASSED = { bytes_sent: count(0), bytes_received: count(0), duration_ms: amount() }
const ERROR_CODE = described('An entry of docs/errors.md.', orNull(text()))

const PROBLEM = described('What went wrong: an entry of docs/errors.md.', orNull(text()))

const event = <const Parts extends Shapes>(description: string, parts: Parts): Shape<Read<Parts>> =>
  described(description, record(parts))

const MANIFEST_VERDICT = fields({
  name: described('Its file.', text()),
  hash: hash(),
  verdict: oneOf('within', 'beyond'),
  differences: list(text()),
})

export const EVENTS = {
  'session.started': event('A session began.', {
    resumed_from: optional(described('The session whose counts and approvals it goes on with.', text())),
    permission_state,
  }),
  'session.ended': event('A session ended.', { reason: text(), calls: count(0) }),
  'policy.changed': event('Mode, rules or the policy of a tool are different from now on.', {
    change: oneOf('mode', 'rules', 'tools', 'policy', 'approval'),
    because: text(),
    tool: orNull(text()),
    policy_hash: orNull(hash()),
    permission_state,
  }),
  'permission.evaluated': event('Rules, mode, hooks, policy or a classifier produced a decision.', {
    permission_decision: elsewhere<PermissionDecision>('permission_decision'),
    arguments: RECORDED_ARGUMENTS,
    manifest: optional(described('How the tool stands to the manifest that it is held against.', MANIFEST_VERDICT)),
  }),
  'permission.requested': event('Somebody is asked.', {
    ...OF_CALL,
    approval_action_id: filled(),
    reason: text(),
    arguments_hash: orNull(hash()),
    expires_at: orNull(time()),
  }),
  'permission.resolved': event('The question was answered, timed out or was taken back.', {
    ...OF_CALL,
    approval_action_id: filled(),
    resolution: oneOf('allowed', 'denied', 'modified', 'escalated', 'timed_out', 'cancelled', 'unavailable'),
    by: described('Who answered; null where nobody did.', orNull(text())),
    reason: orNull(text()),
    scope: oneOf('call', 'session'),
    decision: oneOf(...DECISIONS),
  }),
  'sandbox.applied': event('A call got its sandbox; null where it runs in the process of the agent.', {
    ...OF_CALL,
    sandbox_profile: elsewhere<SandboxProfile>('sandbox_profile'),
  }),
  'sandbox.violation': event('A boundary was touched.', {
    ...OF_CALL,
    violation_ref: described('The entry of violation_refs in the profile.', filled()),
    violation: VIOLATION,
    description: text(),
  }),
  'sandbox.mismatch': event('The applied boundary differs from the permitted one. The tool does not run again.', {
    ...OF_CALL,
    problem: text(),
  }),
  'sandbox.unconfined': event('The host called runUnconfined: a program ran without a sandbox.', {
    ...OF_CALL,
    sandbox_profile: elsewhere<UnconfinedProfile>('sandbox_profile'),
  }),
  'tool.called': event('A tool is about to run.', {
    ...OF_CALL,
    arguments: RECORDED_ARGUMENTS,
    risk: oneOf(...RISKS),
    policy_hash: orNull(hash()),
    session: text(),
  }),
  'tool.denied': event('A tool did not run.', {
    ...OF_CALL,
    reason: text(),
    error_code: ERROR_CODE,
    risk: orNull(oneOf(...RISKS)),
    used_declared_capability: yesOrNo(),
  }),
  'tool.completed': event('A tool ran, and this is how it ended.', {
    ...OF_CALL,
    status: oneOf('ok', 'failed', 'violated', 'timeout', 'cancelled', 'not_started'),
    reason: orNull(text()),
    error_code: ERROR_CODE,
    result_hash: described('What the call gave back, by its hash.', orNull(hash())),
    result_bytes: orNull(count(0)),
    duration_ms: amount(),
  }),
  'hook.started': event('A hook is asked.', OF_HOOK),
  'hook.completed': event('A hook answered.', {
    ...OF_HOOK,
    decision: described('continue, allow, ask, deny or block; what else it did stands in effects.', text()),
    effects: list(oneOf('input', 'output', 'result', 'context', 'suppressed')),
    reason: orNull(text()),
    audit_refs: list(text()),
    duration_ms: amount(),
  }),
  'hook.failed': event('A hook threw, took too long or answered nonsense, which denies the call.', {
    ...OF_HOOK,
    problem: text(),
    duration_ms: amount(),
  }),
  // Programs are named; their arguments are recorded by hash, like those of the call.
  'process.started': event('A program started in its cell.', {
    ...OF_CALL,
    program: text(),
    arguments: RECORDED_ARGUMENTS,
    cwd: text(),
  }),
  'process.completed': event('It ended by itself.', { ...OF_CALL, exit_code: count(), usage: USAGE }),
  'process.terminated': event('It was ended.', {
    ...OF_CALL,
    because: oneOf('limit', 'signal', 'cancelled', 'violation', 'setup'),
    limit: orNull(oneOf(...LIMIT_KINDS)),
    signal: orNull(count()),
    usage: orNull(USAGE),
  }),
  // A connection that cannot be recorded is closed.
  'egress.opened': event('A call is about to be connected to a granted host. Nothing was sent yet.', {
    ...OF_CONNECTION,
    treatment: described(
      'http: nothing but HTTP, every request judged. stream: HTTP is judged, anything else passes unread. ' +
        'direct: passes unread, after its TLS named the host.',
      oneOf('http', 'stream', 'direct'),
    ),
  }),
  'egress.request': event('A request to a granted host, and its answer.', {
    ...OF_CONNECTION,
    protocol: oneOf('http/1.0', 'http/1.1', 'h2'),
    scheme: oneOf('http', 'https'),
    method: filled(),
    path: described('Without the query, and with placeholders where they stood.', text()),
    status: described('Null when there was no answer.', orNull(whole(100, 999))),
    ...PASSED,
    rule: described('The entry of the policy that granted it.', text()),
    credentials: described('Credentials that were put into it, by their ids.', list(filled())),
    redactions: described('How often a credential was taken out of the answer.', count(0)),
    problem: PROBLEM,
  }),
  'egress.closed': event(
    'A connection to a granted host ended. Bytes are those that passed by unread; requests have their own events.',
    {
      ...OF_CONNECTION,
      ...PASSED,
      problem: PROBLEM,
    },
  ),
  'egress.summed': event(
    'Beyond a number of entries the network of a call is only summed up: told when that begins, without a ' +
      'sum, and when the call has ended.',
    {
      ...OF_CALL,
      entries: described('Those that the call has one by one.', count(0)),
      sum: orNull(EGRESS_SUMMARY),
    },
  ),
  'audit.began': event('A file of the log begins.', { file: described('1 for the first file.', count(1)) }),
  'audit.repaired': event('What a writer that was killed, or a power cut, left was repaired.', {
    adopted_lines: described('Whole lines that the anchor did not know of.', count(0)),
    torn_bytes: described('What was left of a line that was not finished, and where it was put.', count(0)),
    torn_hash: orNull(hash()),
    torn_file: orNull(text()),
    lost_lines: described('Lines that were not on the disk yet when the machine stopped.', count(0)),
  }),
} as const satisfies Readonly<Record<EventType, Shape<object>>>

export const CONTEXT = fields({
  request_id: optional(text()),
  agent: optional(text()),
  skill: optional(text()),
  provider: optional(text()),
  model: optional(text()),
  manifest_hash: optional(text()),
})

/** The fields of every event, besides its type. */
export const BASE = record({
  event_id: filled(),
  timestamp: time(),
  sequence: described(
    'Of the session: 1, 2, 3, … without gaps. Of what the log says about itself: its own line.',
    count(1),
  ),
  session_id: described('Of what the log says about itself: the id of the log.', filled()),
  call_id: orNull(text()),
  context: optional(described('On whose behalf, as far as the host said so.', CONTEXT)),
})

export const eventSchema = (): Schema => {
  const shapes: readonly Shape<unknown>[] = [BASE, ...Object.values(EVENTS)]
  const { properties, required, ...base } = BASE.schema as {
    readonly properties: Schema
    readonly required: readonly string[]
  }
  return recordFile(
    'event',
    'Something that happened to a call, a session or the log. One of these is in every line of the audit log.',
    {
      ...BASE,
      named: Object.assign({}, ...shapes.map(({ named }) => named)) as Shape<unknown>['named'],
      schema: {
        ...base,
        required: ['type', ...required],
        properties: { type: { enum: EVENT_TYPES }, ...properties },
        oneOf: Object.entries<Shape<unknown>>(EVENTS).map(
          ([
            type,
            {
              schema: { type: _, properties: own, ...rest },
            },
          ]) => ({ ...rest, properties: { type: { const: type }, ...(own as Schema) } }),
        ),
        unevaluatedProperties: false,
      },
    },
  )
}
