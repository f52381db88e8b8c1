// `cordon runs`: starts, lists, shows and answers runs of a team.
import { ageOf, readGivenDocument, renderFacts, renderHash, renderQuoted, renderTable, visible } from 'cordon/commands'
import type { CommandLine, Paint } from 'cordon/commands'
import { isMapping, withoutUndefined } from 'cordon/shapes'

import { fail } from '../errors/errors.js'
import { runStoreCommand } from '../options/store-command.js'
import type { CommandContext } from '../options/store-command.js'
import { RUN_STATES } from '../store/index.js'
import type { AnswerOf } from '../store/index.js'
import { approve, reject } from './approvals.js'
import { RUNS_HELP } from './help.js'
import { neededText, voteText } from './question-text.js'

export const runs = (line: CommandLine): Promise<number> =>
  runStoreCommand({ name: 'team runs', help: RUNS_HELP, actions: { start, list, show, approve, reject, cancel } }, line)

const start = async (context: CommandContext): Promise<number> => {
  const { store, option, team, print, wrong } = context
  const name = context.oneWord('name one run')
  const path = option('plan')
  if (path === undefined) throw wrong('the run has no plan', 'name a file with the plan: --plan FILE')
  const ms = context.timeOption('for', '30m, 8h, 7d', 1000)
  const needed = option('needed')
  const { id } = await store.ask('startRun', {
    team: await team(),
    name,
    plan: planOf(path),
    ...withoutUndefined({
      needed: needed === undefined ? undefined : Number(needed),
      validSeconds: ms === undefined ? undefined : Math.floor(ms / 1000),
    }),
  })
  const { run } = await store.ask('showRun', { id })
  return print(run, (paint) => `${paint('yellow', 'asked')} ${id}: ${visible(name)} waits for approval\n`)
}

const planOf = (path: string): Readonly<Record<string, unknown>> => {
  const fix = 'name a file with the plan as a mapping in YAML or JSON'
  const { value } = readGivenDocument(path, fix).node
  if (!isMapping(value)) throw fail('file-unreadable', { path, problem: 'it is not a mapping', fix })
  return value
}

const list = async ({ store, team, option, printList, wrong }: CommandContext): Promise<number> => {
  const wanted = option('status')
  const status = RUN_STATES.find((each) => each === wanted)
  if (wanted !== undefined && status === undefined) throw wrong(`--status is one of ${RUN_STATES.join(', ')}`)
  const found = await store.ask('listRuns', { team: await team(), ...withoutUndefined({ status }) })
  return printList(
    found,
    ['RUN', 'NAME', 'STATE', 'BY', 'AGE', 'UNTIL'],
    (run) => [run.id, run.name, run.status, run.startedBy, ageOf(run.createdAt), run.expiresAt.slice(0, 16)],
    'there are no runs; cordon team runs start NAME --plan FILE starts one',
  )
}

const show = async (context: CommandContext): Promise<number> => {
  const shown = await context.store.ask('showRun', { id: await idOf(context) })
  return context.print(shown, (paint) => renderRun(shown, paint))
}

const renderRun = ({ run, planText, question, votes, calls }: AnswerOf<'showRun'>, paint: Paint): string =>
  [
    ...renderFacts(
      [
        ['run', `${run.name}, ${run.status}`],
        ['started by', `${run.startedBy}, ${ageOf(run.createdAt)} ago; until ${run.expiresAt}`],
        ['needs', neededText(question)],
        ...votes.map((vote) => ['answer', voteText(vote)] as const),
        ['id', run.id],
      ],
      paint,
    ),
    ...renderQuoted('plan', planText, paint),
    ...renderHash(run.planHash, paint),
    '',
    renderTable(
      ['CALL', 'TOOL', 'STEP', 'AGENT', 'STATE'],
      calls.map(({ id, tool, step, agent, status }) => [id, tool, step ?? '', agent, status]),
      paint,
      '  you can see no calls of this run',
    ),
  ].join('\n')

const cancel = async (context: CommandContext): Promise<number> => {
  const id = await idOf(context)
  const more = withoutUndefined({ reason: context.option('reason') })
  const { status } = await context.store.ask('cancelRun', { id, ...more })
  return context.print({ id, status }, () => `${status} ${id}\n`)
}

const MOST = 1000

/** Among the last runs of the team. */
const idOf = ({ store, team, oneId }: CommandContext): Promise<string> =>
  oneId('run', 'cordon team runs list', async () =>
    (await store.ask('listRuns', { team: await team(), most: MOST })).map(({ id }) => [id]),
  )
