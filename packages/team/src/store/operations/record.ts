// Operations on the audit log: read after a mark, verify, prune.
import { list, optional, whole } from 'cordon/shapes'

import { DROPPED_PARTITIONS, RECORD_PAGE, RECORD_PROBLEM } from '../registry/call-answers.js'
import type { RecordProblem } from '../registry/call-answers.js'
import { readRecord } from '../registry/record.js'
import { name, text } from './field.js'
import { WRITE_AS, READ_AS_AUDITOR, operation } from './operation.js'

const MOST_ENTRIES = 5000
const LONGEST_DAYS = 36_500
/** For all of the log, or whole partitions. */
const LONG_MS = 600_000

export const RECORD = {
  readRecord: operation({
    ...READ_AS_AUDITOR,
    path: '/v1/teams/{team}/record',
    summary: 'entries of the audit log after a mark, and the next mark',
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
    ...READ_AS_AUDITOR,
    path: '/v1/record/problems',
    summary: 'problems of the audit logs of your teams; an empty list means that they are intact',
    fields: {},
    answer: list(RECORD_PROBLEM),
    longestMs: LONG_MS,
    perform: ({ query }): Promise<readonly RecordProblem[]> =>
      query('select owner, chain, sequence::text, problem from agents.fn_verify_audit()'),
  }),
  dropOldRecords: operation({
    ...WRITE_AS.owner,
    path: '/v1/record/retention',
    summary: 'removes older calls and entries, one partition at a time',
    fields: { keepDays: whole(1, LONGEST_DAYS) },
    answer: DROPPED_PARTITIONS,
    longestMs: LONG_MS,
    perform: async ({ query }, { keepDays }) => {
      const statement = 'select agents.fn_drop_old_partitions(make_interval(days => $1)) as part'
      return { dropped: (await query<{ part: string }>(statement, [keepDays])).map(({ part }) => part) }
    },
  }),
} as const
