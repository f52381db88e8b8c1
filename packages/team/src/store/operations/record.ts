// Operations on the audit log: read after a mark, verify, prune.
import { list, optional, whole } from 'cordon/shapes'
import { dropOldRecords, readRecord, verifyRecord } from '../registry/record.js'

import { DROPPED, RECORD_PAGE, RECORD_PROBLEM } from '../registry/call-answers.js'
import { name, text } from './field.js'
import { operation } from './operation.js'

const MOST_ENTRIES = 5000
const LONGEST_DAYS = 36_500
/** For all of the log, or whole partitions. */
const LONG_MS = 600_000

export const RECORD = {
  readRecord: operation({
    method: 'GET',
    path: '/v1/teams/{team}/record',
    summary: 'entries of the audit log after a mark, and the next mark',
    role: 'cordon_operator',
    who: ['admin', 'operator'],
    fields: {
      team: name(),
      after: optional(text(2000)),
      since: optional(text(40)),
      until: optional(text(40)),
      most: optional(whole(1, MOST_ENTRIES)),
    },
    answer: RECORD_PAGE,
    perform: readRecord,
  }),
  verifyRecord: operation({
    method: 'GET',
    path: '/v1/record/problems',
    summary: 'problems of the audit logs of your teams; an empty list means that they are intact',
    role: 'cordon_operator',
    who: ['admin', 'operator'],
    fields: {},
    answer: list(RECORD_PROBLEM),
    longestMs: LONG_MS,
    perform: verifyRecord,
  }),
  dropOldRecords: operation({
    method: 'POST',
    path: '/v1/record/retention',
    summary: 'removes older calls and entries, one partition at a time',
    role: 'service_role',
    who: 'owner',
    fields: { keepDays: whole(1, LONGEST_DAYS) },
    answer: DROPPED,
    longestMs: LONG_MS,
    perform: async (asking, { keepDays }) => ({ dropped: await dropOldRecords(asking, keepDays) }),
  }),
} as const
