// Parts of events that several events or other parts of the runtime use.
import { LIMIT_KINDS } from '../../sandbox/index.js'
import type { Violation } from '../../sandbox/index.js'
import {
  amount,
  count,
  defined,
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
  such,
  text,
  whole,
} from '../../shapes/index.js'
import type { Shape } from '../../shapes/index.js'

export const RECORDED_ARGUMENTS = defined(
  'recorded_arguments',
  described(
    'Arguments by their hash; their text only where the host asked for it, without what looks like a secret.',
    fields({
      hash: described('Of the canonical JSON, as in the decision and the permit.', hash()),
      bytes: count(0),
      text: optional(text()),
    }),
  ),
)

export const USAGE = defined('usage', fields({ wall_ms: amount(), cpu_ms: amount(), max_rss_bytes: amount() }))

const SUMS = { connections: count(0), requests: count(0), bytes_sent: count(0), bytes_received: count(0) }
export const PORT = whole(1, 65_535)

export const REACHED_HOST = fields({
  host: filled(),
  port: PORT,
  ...SUMS,
  credentials: described('By their ids.', list(text())),
  redactions: described('How often a credential was taken out of an answer.', count(0)),
  problems: described('What went wrong: entries of docs/errors.md.', list(text())),
})
export const EGRESS_SUMMARY = fields({
  ...SUMS,
  hosts: list(REACHED_HOST, { most: 100 }),
  more_hosts: described('Hosts beyond those, by name and port.', count(0)),
})

const PATH = { path: text() }
/** The type is the sandbox's, which makes violations. The schema describes it for other programs. */
export const VIOLATION: Shape<Violation> = defined(
  'violation',
  such('a violation', isMapping, {
    schema: {
      description: 'What was tried, and against what; the other fields depend on the kind.',
      type: 'object',
      required: ['kind'],
      properties: {
        kind: {
          enum: [
            'connect',
            'listen',
            'lookup',
            'egress',
            'exec',
            'file',
            'metadata',
            'protected',
            'unsealed',
            ...LIMIT_KINDS,
          ],
        },
      },
      oneOf: [
        record({
          kind: oneOf('connect', 'listen'),
          family: oneOf('inet', 'inet6', 'unix', 'abstract', 'host', 'other'),
        }),
        record({ kind: oneOf('lookup'), name: text() }),
        record({
          kind: oneOf('egress'),
          host: text(),
          port: whole(0, 65_535),
          method: orNull(text()),
          path: orNull(text()),
          reason: text(),
          because: text(),
          allow: orNull(text()),
        }),
        record({ kind: oneOf('exec', 'metadata', 'protected', 'unsealed'), ...PATH }),
        record({
          kind: oneOf('file'),
          access: oneOf('read', 'write'),
          ...PATH,
          openedAs: optional(text()),
          reason: such('a reason', isMapping, { schema: { type: 'object', required: ['kind'] } }),
        }),
        record({ kind: oneOf(...LIMIT_KINDS), limit: amount(), used: amount(), effect: oneOf('ended', 'refused') }),
      ].map(({ schema }) => schema),
    },
  }),
)

export const EVENT_TYPES = [
  ...(['session.started', 'session.ended', 'policy.changed'] as const),
  ...(['permission.evaluated', 'permission.requested', 'permission.resolved'] as const),
  ...(['sandbox.applied', 'sandbox.violation', 'sandbox.mismatch', 'sandbox.unconfined'] as const),
  ...(['tool.called', 'tool.denied', 'tool.completed'] as const),
  ...(['hook.started', 'hook.completed', 'hook.failed'] as const),
  ...(['process.started', 'process.completed', 'process.terminated'] as const),
  ...(['egress.opened', 'egress.request', 'egress.closed', 'egress.summed'] as const),
  ...(['audit.began', 'audit.repaired'] as const),
] as const

export type EventType = (typeof EVENT_TYPES)[number]
