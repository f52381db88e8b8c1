// The record: read from where one stopped, checked, and shortened.
import { list, optional, whole } from '../../shapes/index.js'
import { dropOldRecords, readRecord, verifyRecord } from '../registry/record.js'

import { DROPPED, RECORD_PAGE, RECORD_PROBLEM } from './answers.js'
import { name, text } from './field.js'
import { operation } from './operation.js'

const MOST_ENTRIES = 5000
const LONGEST_DAYS = 36_500
/** All of the record, or whole partitions of it. */
const LONG_MS = 600_000

export const RECORD = {
  readRecord: operation({
    method: 'GET',
    path: '/v1/teams/{team}/record',
    summary: 'entries of the record after a mark, and the next mark',
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
    summary: 'what is wrong with the record of your teams: nothing is a good answer',
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
    summary: 'drops calls and entries that are older, a partition at a time',
    role: 'service_role',
    who: 'owner',
    fields: { keepDays: whole(1, LONGEST_DAYS) },
    answer: DROPPED,
    longestMs: LONG_MS,
    perform: async (asking, { keepDays }) => ({ dropped: await dropOldRecords(asking, keepDays) }),
  }),
} as const
