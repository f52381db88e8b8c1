// Runs of a team. They are decided as calls are: by `approve` and `reject` (calls.ts), with the id of the run.
import { list, oneOf, optional, whole } from '../../shapes/index.js'
import { RUN_STATES, cancelRun, listRuns, showRun, startRun } from '../registry/team-runs.js'

import { SHOWN_RUN, TEAM_RUN, THE_ID, THE_RUN_STATUS } from './answers.js'
import { boundedMapping, filledText, id, name, text } from './field.js'
import { EVERYBODY, isChangeOfIt, operation } from './operation.js'

const MOST_PEOPLE = 20
const MOST_ROWS = 1000
const LONGEST_SECONDS = 30 * 86_400

export const RUNS = {
  startRun: operation({
    method: 'POST',
    path: '/v1/teams/{team}/runs',
    summary: 'starts a run: people are asked about its plan, and calls can be made for it once they agreed',
    role: 'cordon_agent',
    who: ['agent', 'operator', 'admin'],
    fields: {
      team: name(),
      name: filledText(200),
      plan: boundedMapping(),
      needed: optional(whole(1, MOST_PEOPLE)),
      validSeconds: optional(whole(1, LONGEST_SECONDS)),
    },
    answer: THE_ID,
    perform: async (asking, { team, validSeconds, ...run }) => ({
      id: await startRun(asking, team, {
        ...run,
        ...(validSeconds === undefined ? {} : { validMs: validSeconds * 1000 }),
      }),
    }),
  }),
  listRuns: operation({
    method: 'GET',
    path: '/v1/teams/{team}/runs',
    summary: 'the runs of a team, the newest first',
    role: 'cordon_agent',
    who: EVERYBODY,
    fields: { team: name(), status: optional(oneOf(...RUN_STATES)), most: optional(whole(1, MOST_ROWS)) },
    answer: list(TEAM_RUN),
    perform: listRuns,
  }),
  showRun: operation({
    method: 'GET',
    path: '/v1/runs/{id}',
    summary: 'a run with its plan, what people said to it, and its calls; approve and reject take its id',
    role: 'cordon_agent',
    who: EVERYBODY,
    fields: { id: id() },
    answer: SHOWN_RUN,
    isAbout: isChangeOfIt,
    perform: (asking, given) => showRun(asking, given.id),
  }),
  cancelRun: operation({
    method: 'POST',
    path: '/v1/runs/{id}/cancel',
    summary: 'ends a run, and what is open of its calls: by who started it, an operator or an admin',
    role: 'cordon_agent',
    who: ['agent', 'operator', 'admin'],
    fields: { id: id(), reason: optional(text(2000)) },
    answer: THE_RUN_STATUS,
    perform: async (asking, given) => ({ status: await cancelRun(asking, given.id, given.reason) }),
  }),
} as const
