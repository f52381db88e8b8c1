import type { AnswerOf } from '../../store/index.js'

import { APPROVALS_HELP } from './approvals-help.js'
import type { CommandLine } from '../command-line.js'
import type { Paint } from '../text/console-text.js'
import { STDERR, STDOUT, jsonLine, paintFor, writeFully, writeText } from '../text/console-text.js'
import { isInteractive } from '../settings/interactive.js'
import { idAmong, isFullId } from '../text/named-id.js'
import { callerText, renderQuestion } from './question-text.js'
import type { CommandContext } from '../store/store-command.js'
import { runStoreCommand } from '../store/store-command.js'
import { renderSpan, renderTable } from '../text/table-text.js'
import { openDialog } from '../settings/terminal-dialog.js'
import { parseSpan } from '../text/time-words.js'
import { visible } from '../text/visible-text.js'

export const approvals = (line: CommandLine): Promise<number> =>
  runStoreCommand(
    { name: 'approvals', help: APPROVALS_HELP, actions: { list, watch, show, approve, reject, advance, revoke } },
    line,
  )

type Question = AnswerOf<'listQuestions'>[number]

const rowOf = ({
  subjectId,
  subjectKind,
  why,
  tool,
  toolVersion,
  egressClass,
  agent,
  waiting,
  agreed,
  needed,
  createdAt,
}: Question): readonly string[] => [
  subjectId,
  subjectKind === 'team_run' ? `run ${why}` : `${tool ?? '?'} ${String(toolVersion ?? '')}`,
  egressClass ?? '',
  waiting > 1 ? `${agent} (${String(waiting)} wait)` : agent,
  `${String(agreed)}/${String(needed)}`,
  renderSpan(Date.now() - Date.parse(createdAt)),
]

const HEADS = ['CALL', 'TOOL', 'CLASS', 'AGENT', 'YES', 'AGE']

/** With a column about callers where one of them is gone. */
const renderQuestions = (questions: readonly Question[], paint: Paint): string => {
  const someGone = questions.some(({ callerGoneSince }) => callerGoneSince !== null)
  const rows = questions.map((question) => [...rowOf(question), ...(someGone ? [callerText(question) ?? ''] : [])])
  return renderTable(someGone ? [...HEADS, 'CALLER'] : HEADS, rows, paint, 'nobody waits for an approval')
}

type Standing = AnswerOf<'listStandingApprovals'>[number]

const STANDING_HEADS = ['APPROVAL', 'TOOL', 'AGENT', 'USES', 'UNTIL', 'BY', 'ARGUMENTS', 'WHY']

const standingRowOf = ({
  id,
  tool,
  toolVersion,
  agent,
  usesLeft,
  expiresAt,
  author,
  arguments: form,
  reason,
}: Standing): readonly string[] => [
  id,
  `${tool} ${String(toolVersion)}`,
  agent ?? 'any',
  String(usesLeft),
  `${expiresAt.slice(0, 16)}Z`,
  author,
  JSON.stringify(form),
  reason,
]

const list = async (context: CommandContext): Promise<number> => {
  const { store, team, print, switches } = context
  if (switches.has('standing')) {
    const standing = await store.ask('listStandingApprovals', { team: await team() })
    print(standing, (paint) =>
      renderTable(
        STANDING_HEADS,
        standing.map(standingRowOf),
        paint,
        'nothing is approved in advance; cordon approvals advance TOOL does that',
      ),
    )
    return 0
  }
  const filter = filterOf(context)
  const most = filter.most ?? PAGE
  // One more than is shown says whether there are more.
  const found = await store.ask('listQuestions', { team: await team(), ...filter, most: Math.min(most + 1, MOST) })
  const questions = found.slice(0, most)
  const last = questions.at(-1)
  print(questions, (paint) => renderQuestions(questions, paint))
  if (found.length > most && last !== undefined)
    writeText(
      STDERR,
      'cordon: there are more; the next page: ' +
        `${context.again(['approvals list', ...['agent', 'tool', 'older', 'most'].flatMap((name) => (context.option(name) === undefined ? [] : [`--${name} ${context.option(name) ?? ''}`])), `--after ${last.id}`].join(' '))}\n`,
    )
  return 0
}

const PAGE = 100

/** What is asked for of the list, as the store has it. */
const filterOf = ({ option, wrong }: CommandContext) => {
  const [agent, tool, after, older, most] = [
    option('agent'),
    option('tool'),
    option('after'),
    option('older'),
    option('most'),
  ]
  const ms = older === undefined ? undefined : parseSpan(older)
  if (older !== undefined && ms === undefined) throw wrong(`--older needs a time such as 30m, 8h, 7d: ${older}`)
  if (most !== undefined && !(/^\d{1,4}$/.test(most) && Number(most) >= 1 && Number(most) < MOST))
    throw wrong(`--most needs a number from 1 to ${String(MOST - 1)}: ${most}`)
  return {
    ...(agent === undefined ? {} : { agent }),
    ...(tool === undefined ? {} : { tool }),
    ...(after === undefined ? {} : { after }),
    ...(ms === undefined ? {} : { olderSeconds: Math.floor(ms / 1000) }),
    ...(most === undefined ? {} : { most: Number(most) }),
  }
}

/** All that wait, page by page: one that is not on the first page is not gone. */
const restOf = async (
  store: CommandContext['store'],
  team: string,
  first: readonly Question[],
): Promise<readonly Question[]> => {
  const all = [...first]
  for (let page = first; page.length >= MOST;) {
    page = await store.ask('listQuestions', { team, most: MOST, after: page.at(-1)?.id ?? '' })
    all.push(...page)
  }
  return all
}

const WAIT_MS = 25_000
const MOST = 1000

/** Until somebody ends it, or nobody reads any more. */
const watch = async ({ store, team, switches, paint }: CommandContext): Promise<number> => {
  const of = await team()
  const open = new Map<string, Question>()
  let known: string | undefined
  for (;;) {
    const next = await store.follow(
      'listQuestions',
      { team: of, most: MOST },
      { waitMs: WAIT_MS, ...(known === undefined ? {} : { known }) },
    )
    if (next === undefined) continue
    known = next.mark
    const waiting = await restOf(store, of, next.answer)
    const now = new Map(waiting.map((question) => [question.id, question]))
    const lines = [
      ...[...open.values()]
        .filter(({ id }) => !now.has(id))
        .map((question) => lineOf('closed', question, switches.has('json'), paint)),
      ...waiting
        .filter(({ id }) => !open.has(id))
        .map((question) => lineOf('asked', question, switches.has('json'), paint)),
    ]
    open.clear()
    for (const [id, question] of now) open.set(id, question)
    if (lines.length > 0 && !writeFully(STDOUT, Buffer.from(lines.join('')))) return 0
  }
}

const lineOf = (event: 'asked' | 'closed', question: Question, isJson: boolean, paint: Paint): string => {
  if (isJson) return jsonLine({ event, ...question })
  const { subjectId, tool, toolVersion, egressClass, agent, why } = question
  return (
    `${paint(event === 'asked' ? 'yellow' : 'dim', event.padEnd(6))} ` +
    `${visible([subjectId, tool === null ? 'a run' : `${tool} ${String(toolVersion)}`, egressClass ?? '', agent, why].join('  '))}\n`
  )
}

const show = async (context: CommandContext): Promise<number> => {
  const shown = await context.store.ask('showQuestion', { id: await idOrFirst(context) })
  context.print(shown, (paint) => renderQuestion(shown, paint))
  return 0
}

export const approve = async (context: CommandContext): Promise<number> => {
  const { store, option, environment } = context
  const id = option('hash') === undefined ? await idOrFirst(context) : await idOf(context)
  const reason = option('reason')
  const more = reason === undefined ? {} : { reason }
  const given = option('hash')
  if (given !== undefined && !/^sha256:[0-9a-f]{64}$/.test(given))
    throw context.wrong(
      `--hash is the whole hash that ${context.again(`approvals show ${id}`)} prints, sha256: and 64 digits, ` +
        `not ${given}`,
    )
  if (given !== undefined) return told(context, id, await store.ask('approve', { id, shownHash: given, ...more }))
  const shown = await store.ask('showQuestion', { id })
  if (!isInteractive())
    throw context.wrong(
      'there is no terminal to ask at',
      `look at it: ${context.again(`approvals show ${id}`)}; then name the hash that it printed: ` +
        context.again(`approvals approve ${id} --hash HASH`),
    )
  const dialog = openDialog()
  try {
    dialog.say(
      `${paintFor(STDERR, environment)('bold', 'cordon: may this run?')}\n${renderQuestion(shown, paintFor(STDERR, environment))}`,
    )
    if (!(await saysYes(dialog))) {
      dialog.say(
        `not approved; nothing was decided (${context.again(`approvals reject ${id} --reason TEXT`)} says no)\n`,
      )
      return 1
    }
  } finally {
    dialog.close()
  }
  return told(context, id, await store.ask('approve', { id, shownHash: shown.question.argumentsHash, ...more }))
}

/** Only what is one of the two counts. */
const saysYes = async (dialog: Pick<ReturnType<typeof openDialog>, 'ask' | 'say'>): Promise<boolean> => {
  for (;;) {
    const answer = (await dialog.ask('yes or no? '))?.trim().toLowerCase()
    if (answer === undefined || ['', 'n', 'no'].includes(answer)) return false
    if (['y', 'yes'].includes(answer)) return true
  }
}

export const reject = async (context: CommandContext): Promise<number> => {
  const reason = context.option('reason')
  if (reason === undefined) throw context.wrong('there is no reason', 'say why: --reason TEXT; the agent reads it')
  const id = await idOf(context)
  return told(context, id, await context.store.ask('reject', { id, reason }))
}

const told = ({ print }: CommandContext, id: string, { status }: { readonly status: string }): number => {
  print(
    { id, status },
    (paint) =>
      `${paint(status === 'approved' ? 'green' : 'yellow', status)} ` +
      `${id}${status === 'pending' ? ' (more people have to say yes)' : ''}\n`,
  )
  return 0
}

const MOST_USES = 1_000_000
const EXAMPLE_FORM =
  '{"type":"object","properties":{"file":{"const":"report.txt"}},"required":["file"],"additionalProperties":false}'

const advance = async (context: CommandContext): Promise<number> => {
  const { store, words, option, team, print, wrong } = context
  const [tool, ...rest] = words
  const [form, reason, agent] = [option('arguments'), option('reason'), option('agent')]
  if (tool === undefined || rest.length > 0) throw wrong('name one tool')
  if (form === undefined || reason === undefined)
    throw wrong(
      'the arguments or the reason are missing',
      `give both: cordon approvals advance ${visible(tool)} --arguments '${EXAMPLE_FORM}' --reason 'every night'`,
    )
  const uses = Number(option('uses') ?? '1')
  if (!Number.isInteger(uses) || uses < 1 || uses > MOST_USES)
    throw wrong(`--uses is a number from 1 to ${String(MOST_USES)}: ${option('uses') ?? ''}`)
  const answer = await store.ask('approveInAdvance', {
    team: await team(),
    tool,
    arguments: schemaOf(form, wrong),
    uses,
    validSeconds: secondsOf(option('for') ?? '1h', wrong),
    reason,
    ...(agent === undefined ? {} : { agent }),
  })
  print(answer, (paint) => `${paint('green', 'approved in advance')} ${answer.id}\n`)
  return 0
}

const schemaOf = (text: string, wrong: CommandContext['wrong']): Readonly<Record<string, unknown>> => {
  const form = parsedForm(text)
  if (typeof form !== 'object' || form === null || Array.isArray(form))
    throw wrong(`--arguments is a JSON Schema, such as ${EXAMPLE_FORM}, not ${text}`)
  return form as Readonly<Record<string, unknown>>
}

const parsedForm = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

const secondsOf = (text: string, wrong: CommandContext['wrong']): number => {
  const ms = parseSpan(text)
  if (ms === undefined || ms < 1000) throw wrong(`--for needs a time such as 30m, 8h, 7d: ${text}`)
  return Math.floor(ms / 1000)
}

const revoke = async ({ store, words, team, wrong, print }: CommandContext): Promise<number> => {
  const [word, ...rest] = words
  if (word === undefined || rest.length > 0)
    throw wrong(
      'no standing approval is named, or more than one',
      'name one by its id: cordon approvals list --standing has them',
    )
  const id = isFullId(word)
    ? word
    : idAmong(
        word,
        (await store.ask('listStandingApprovals', { team: await team() })).map((each) => [each.id]),
        { what: 'standing approval', listedBy: 'cordon approvals list --standing', wrong },
      )
  await store.ask('revokeStandingApproval', { id })
  print({ id, status: 'revoked' }, () => `revoked ${id}\n`)
  return 0
}

/** Without a word, the first question of the list whose caller still waits for the answer. */
const idOrFirst = async (context: CommandContext): Promise<string> => {
  if (context.words.length > 0) return idOf(context)
  const of = await context.team()
  const questions = await restOf(context.store, of, await context.store.ask('listQuestions', { team: of, most: MOST }))
  const first = questions.find(({ callerGoneSince }) => callerGoneSince === null)
  if (first !== undefined) return first.subjectId
  const [dead] = questions
  if (dead === undefined)
    throw context.wrong('nobody waits for an approval', `wait for a question: ${context.again('approvals watch')}`)
  throw context.wrong(
    `no caller waits for an answer: the process that asked about ${dead.subjectId} is ${callerText(dead) ?? 'gone'}`,
    `cancel the call: ${context.again(`calls cancel ${dead.subjectId}`)}; if another process resumes it, ` +
      `approve it by its id: ${context.again(`approvals approve ${dead.subjectId}`)}`,
  )
}

/** The id that a word means, among those that are open. */
const idOf = async ({ store, words, team, wrong }: CommandContext): Promise<string> => {
  const [word, ...rest] = words
  if (word === undefined || rest.length > 0)
    throw wrong(
      'no question is named, or more than one',
      'name one by its id, or by the id of its call: cordon approvals list has them',
    )
  if (isFullId(word)) return word
  const of = await team()
  const questions = await restOf(store, of, await store.ask('listQuestions', { team: of, most: MOST }))
  return idAmong(
    word,
    questions.map(({ id, subjectId }) => [subjectId, id]),
    { what: 'open question', listedBy: 'cordon approvals list', wrong },
  )
}
