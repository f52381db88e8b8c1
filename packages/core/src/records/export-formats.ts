// Log entries in the formats of security systems.
import type { AuditLine } from '../runtime/index.js'

import { version } from '../line/text/version.js'

export const EXPORT_FORMATS = ['jsonl', 'cloudevents', 'ocsf', 'otlp'] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number]

/** The common content of all formats, for local logs and logs of teams. */
export interface ExportedEntry {
  /** Stable, so that a receiver notices a repeated entry. */
  readonly id: string
  readonly time: string
  readonly type: string
  readonly source: string
  readonly subject: string
  readonly actor: string
  readonly hasFailed: boolean
  readonly data: Readonly<Record<string, unknown>>
  /** The original line with its hash. */
  readonly line: string
}

export const FAILURES = /(?:^|\.)(?:denied|violation|failed|rejected|expired|terminated|doubtful|repaired)$/

export const fromLogLine = ({ event, sequence, hash }: AuditLine, line: string): ExportedEntry => ({
  id: event.event_id,
  time: event.timestamp,
  type: event.type,
  source: `cordon:session:${event.session_id}`,
  subject: event.call_id === null ? `session:${event.session_id}` : `call:${event.call_id}`,
  actor: event.context?.agent ?? 'local',
  hasFailed:
    FAILURES.test(event.type) || ('status' in event && typeof event.status === 'string' && event.status !== 'ok'),
  data: { ...event, record: { sequence, hash } },
  line,
})

/** One line, without its line feed. */
export const renderExported = (exported: ExportedEntry, format: ExportFormat): string => {
  switch (format) {
    case 'jsonl':
      return exported.line
    case 'cloudevents':
      return JSON.stringify(cloudEventOf(exported))
    case 'ocsf':
      return JSON.stringify(ocsfOf(exported))
    case 'otlp':
      return JSON.stringify(otlpOf(exported))
  }
}

/** CloudEvents 1.0, as JSON. */
const cloudEventOf = ({ id, time, type, source, subject, data }: ExportedEntry) => ({
  specversion: '1.0',
  id,
  source,
  type: `cordon.${type}`,
  time,
  subject,
  datacontenttype: 'application/json',
  data,
})

const OCSF_VERSION = '1.3.0'
const API_ACTIVITY = {
  category_uid: 6,
  category_name: 'Application Activity',
  class_uid: 6003,
  class_name: 'API Activity',
} as const
const OTHER_ACTIVITY = 99
const SEVERITY = { informational: 1, medium: 3 } as const
const STATUS = { success: 1, failure: 2 } as const

/** OCSF: each entry is an API activity, and its type is the operation. */
const ocsfOf = ({ id, time, type, source, subject, actor, hasFailed, data, line }: ExportedEntry) => ({
  ...API_ACTIVITY,
  activity_id: OTHER_ACTIVITY,
  activity_name: type,
  type_uid: API_ACTIVITY.class_uid * 100 + OTHER_ACTIVITY,
  type_name: `${API_ACTIVITY.class_name}: Other`,
  time: Date.parse(time),
  severity_id: hasFailed ? SEVERITY.medium : SEVERITY.informational,
  status_id: hasFailed ? STATUS.failure : STATUS.success,
  actor: { user: { name: actor, type_id: 99, type: 'Agent or person' } },
  api: { operation: type, service: { name: 'cordon' }, request: { uid: subject } },
  src_endpoint: { name: source },
  resources: [{ uid: subject, type: 'call' }],
  metadata: {
    uid: id,
    version: OCSF_VERSION,
    original_time: time,
    event_code: type,
    log_name: source,
    product: { name: 'Cordon', vendor_name: 'Cordon', version: version() },
  },
  unmapped: data,
  raw_data: line,
})

const OTLP_SEVERITY = { informational: [9, 'INFO'], medium: [13, 'WARN'] } as const

/** OTLP: one request of the logs service, in JSON. A collector reads such lines from a file, or takes one by HTTP. */
const otlpOf = ({ id, time, type, source, subject, actor, hasFailed, data, line }: ExportedEntry) => {
  const [severityNumber, severityText] = hasFailed ? OTLP_SEVERITY.medium : OTLP_SEVERITY.informational
  const attribute = ([key, stringValue]: readonly [string, string]) => ({ key, value: { stringValue } })
  return {
    resourceLogs: [
      {
        resource: { attributes: [attribute(['service.name', 'cordon']), attribute(['service.version', version()])] },
        scopeLogs: [
          {
            scope: { name: 'cordon.audit', version: version() },
            logRecords: [
              {
                // JSON has 64-bit integers as text.
                timeUnixNano: `${String(Date.parse(time))}000000`,
                severityNumber,
                severityText,
                eventName: `cordon.${type}`,
                body: { stringValue: JSON.stringify(data) },
                attributes: Object.entries({
                  'cordon.event_id': id,
                  'cordon.source': source,
                  'cordon.subject': subject,
                  'cordon.actor': actor,
                  'log.record.original': line,
                }).map(attribute),
              },
            ],
          },
        ],
      },
    ],
  }
}
