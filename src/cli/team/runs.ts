import { fail } from '../../errors/index.js'
import { RUN_STATES } from '../../store/index.js'
import type { AnswerOf } from '../../store/index.js'

import { approve, reject } from './approvals.js'
import type { CommandLine } from '../command-line.js'
import type { Paint } from '../text/console-text.js'
import { readGivenDocument } from '../text/given-document.js'
import { idAmong, isFullId } from '../text/named-id.js'
import { voterOf } from './question-text.js'
import { RUNS_HELP } from './runs-help.js'
import type { CommandContext } from '../store/store-command.js'
import { runStoreCommand } from '../store/store-command.js'
import { renderFacts, renderHash, renderQuoted, renderSpan, renderTable } from '../text/table-text.js'
import { parseSpan } from '../text/time-words.js'
import { visible } from '../text/visible-text.js'

export const runs = (line: CommandLine): Promise<number> =>
  runStoreCommand({ name: 'runs', help: RUNS_HELP, actions: { start, list, show, approve, reject, cancel } }, line)

const start = async ({ store, words, option, team, print, wrong }: CommandContext): Promise<number> => {
  const [name, ...rest] = words
  const [path, needed, span] = [option('plan'), option('needed'), option('for')]
  if (name === undefined || rest.length > 0) throw wrong('name one run')
  if (path === undefined) throw wrong('the run has no plan', 'name a file that says what is to be done: --plan FILE')
  const ms = span === undefined ? undefined : parseSpan(span)
  if (span !== undefined && (ms === undefined || ms < 1000))
    throw wrong(`--for needs a time such as 30m, 8h, 7d: ${span}`)
  const plan = planOf(path)
  const { id } = await store.ask('startRun', {
    team: await team(),
    name,
    plan,
    ...(needed === undefined ? {} : { needed: Number(needed) }),
    ...(ms === undefined ? {} : { validSeconds: Math.floor(ms / 1000) }),
  })
  const { run } = await store.ask('showRun', { id })
  print(run, (paint) => `${paint('yellow', 'asked')} ${id}: ${visible(name)} waits for approval\n`)
  return 0
}

const planOf = (path: string): Readonly<Record<string, unknown>> => {
  const fix = 'name a file with the plan as a mapping in YAML or JSON'
  const {
    node: { value },
  } = readGivenDocument(path, fix)
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw fail('file-unreadable', { path, problem: 'it is not a mapping', fix })
  return value as Readonly<Record<string, unknown>>
}

type Run = AnswerOf<'listRuns'>[number]

const rowOf = ({ id, name, status, startedBy, createdAt, expiresAt }: Run): readonly string[] => [
  id,
  name,
  status,
  startedBy,
  renderSpan(Date.now() - Date.parse(createdAt)),
  expiresAt.slice(0, 16),
]

const list = async ({ store, team, option, print, wrong }: CommandContext): Promise<number> => {
  const wanted = option('status')
  const status = RUN_STATES.find((each) => each === wanted)
  if (wanted !== undefined && status === undefined) throw wrong(`--status is one of ${RUN_STATES.join(', ')}`)
  const found = await store.ask('listRuns', { team: await team(), ...(status === undefined ? {} : { status }) })
  print(found, (paint) =>
    renderTable(
      ['RUN', 'NAME', 'STATE', 'BY', 'AGE', 'UNTIL'],
      found.map(rowOf),
      paint,
      'there are no runs; cordon runs start NAME --plan FILE makes one',
    ),
  )
  return 0
}

const show = async (context: CommandContext): Promise<number> => {
  const shown = await context.store.ask('showRun', { id: await idOf(context) })
  context.print(shown, (paint) => renderRun(shown, paint))
  return 0
}

const renderRun = ({ run, planText, question, votes, calls }: AnswerOf<'showRun'>, paint: Paint): string =>
  [
    ...renderFacts(
      [
        ['run', `${run.name}, ${run.status}`],
        [
          'started by',
          `${run.startedBy}, ${renderSpan(Date.now() - Date.parse(run.createdAt))} ago; until ${run.expiresAt}`,
        ],
        [
          'needs',
          `${String(question.needed)} ${question.needed === 1 ? 'person' : 'different people'}, ` +
            `${String(question.agreed)} said yes`,
        ],
        ...votes.map(
          (vote) =>
            ['answer', `${vote.verdict} by ${voterOf(vote)}${vote.reason === null ? '' : `: ${vote.reason}`}`] as const,
        ),
        ['id', run.id],
      ],
      paint,
    ),
    `  ${paint('dim', 'plan')}`,
    ...renderQuoted(planText),
    ...renderHash(run.planHash, paint),
    '',
    renderTable(
      ['CALL', 'TOOL', 'STEP', 'AGENT', 'STATE'],
      calls.map(({ id, tool, step, agent, status }) => [id, tool, step ?? '', agent, status]),
      paint,
      '  no calls were made for it that you may see',
    ),
  ].join('\n')

const cancel = async (context: CommandContext): Promise<number> => {
  const id = await idOf(context)
  const reason = context.option('reason')
  const { status } = await context.store.ask('cancelRun', { id, ...(reason === undefined ? {} : { reason }) })
  context.print({ id, status }, () => `${status} ${id}\n`)
  return 0
}

const MOST = 1000

/** The id that a word means, among the last runs of the team. */
const idOf = async ({ store, words, team, wrong }: CommandContext): Promise<string> => {
  const [word, ...rest] = words
  if (word === undefined || rest.length > 0)
    throw wrong('no run is named, or more than one', 'name one by its id: cordon runs list has them')
  return isFullId(word)
    ? word
    : idAmong(
        word,
        (await store.ask('listRuns', { team: await team(), most: MOST })).map(({ id }) => [id]),
        { what: 'run', listedBy: 'cordon runs list', wrong },
      )
}
