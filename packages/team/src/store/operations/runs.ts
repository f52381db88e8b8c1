// Operations on runs of a team. `approve` and `reject` of calls.ts take the id of a run too.
import { list, oneOf, optional, whole } from 'cordon/shapes'

import { RUN_STATES, SHOWN_RUN, TEAM_RUN, THE_ID, THE_RUN_STATUS } from '../registry/call-answers.js'
import { cancelRun, listRuns, showRun, startRun } from '../registry/team-runs.js'
import { LONGEST_WAIT_SECONDS, MOST_ROWS, boundedMapping, filledText, id, name, text } from './field.js'
import { WRITE_AS, READ_AS_MEMBER, isChangeOfIt, operation } from './operation.js'

const MOST_PEOPLE = 20

export const RUNS = {
  startRun: operation({
    ...WRITE_AS.starter,
    path: '/v1/teams/{team}/runs',
    summary: 'starts a run: people are asked about its plan, and calls can use the run once it is approved',
    fields: {
      team: name(),
      name: filledText(200),
      plan: boundedMapping(),
      needed: optional(whole(1, MOST_PEOPLE)),
      validSeconds: optional(whole(1, LONGEST_WAIT_SECONDS)),
    },
    answer: THE_ID,
    perform: async (asking, { team, validSeconds, ...run }) => ({
      id: await startRun(asking, team, validSeconds === undefined ? run : { ...run, validMs: validSeconds * 1000 }),
    }),
  }),
  listRuns: operation({
    ...READ_AS_MEMBER,
    path: '/v1/teams/{team}/runs',
    summary: 'runs of a team, newest first',
    fields: { team: name(), status: optional(oneOf(...RUN_STATES)), most: optional(whole(1, MOST_ROWS)) },
    answer: list(TEAM_RUN),
    perform: listRuns,
  }),
  showRun: operation({
    ...READ_AS_MEMBER,
    path: '/v1/runs/{id}',
    summary: 'a run with its plan, its answers and its calls; approve and reject take its id',
    fields: { id: id() },
    answer: SHOWN_RUN,
    isAbout: isChangeOfIt,
    perform: (asking, given) => showRun(asking, given.id),
  }),
  cancelRun: operation({
    ...WRITE_AS.starter,
    path: '/v1/runs/{id}/cancel',
    summary: 'ends a run and its open calls: by the member who started it, an operator or an admin',
    fields: { id: id(), reason: optional(text(2000)) },
    answer: THE_RUN_STATUS,
    perform: async (asking, given) => ({ status: await cancelRun(asking, given.id, given.reason) }),
  }),
} as const
