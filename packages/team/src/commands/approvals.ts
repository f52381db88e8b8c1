// `cordon approvals`: lists, shows and answers questions, and manages standing approvals.
import {
  ageOf,
  answerLocally,
  isInteractive,
  jsonLine,
  openDialog,
  paintFor,
  renderTable,
  STDERR,
  STDOUT,
  visible,
  writeFully,
  writeText,
} from 'cordon/commands'
import type { CommandLine, Paint } from 'cordon/commands'
import { isMapping, withoutUndefined } from 'cordon/shapes'

import { runStoreCommand } from '../options/store-command.js'
import type { CommandContext } from '../options/store-command.js'
import { namesStore } from '../options/store-help.js'
import type { AnswerOf } from '../store/index.js'
import { APPROVALS_HELP } from './help.js'
import { callerText, renderQuestion } from './question-text.js'

export const approvals = async (line: CommandLine): Promise<number> =>
  (await answerLocally(line, namesStore(line.given.values))) ??
  runStoreCommand(
    { name: 'approvals', help: APPROVALS_HELP, actions: { list, watch, show, approve, reject, advance, revoke } },
    line,
  )

type Question = AnswerOf<'listQuestions'>[number]

const HEADS = ['CALL', 'TOOL', 'CLASS', 'AGENT', 'YES', 'AGE']

/** Has a column about callers only where one is gone. */
const renderQuestions = (questions: readonly Question[], paint: Paint): string => {
  const someGone = questions.some(({ callerGoneSince }) => callerGoneSince !== null)
  const rows = questions.map((question) => [
    question.subjectId,
    question.subjectKind === 'team_run'
      ? `run ${question.why}`
      : `${question.tool ?? '?'} ${String(question.toolVersion ?? '')}`,
    question.egressClass ?? '',
    question.waiting > 1 ? `${question.agent} (${String(question.waiting)} wait)` : question.agent,
    `${String(question.agreed)}/${String(question.needed)}`,
    ageOf(question.createdAt),
    ...(someGone ? [callerText(question) ?? ''] : []),
  ])
  return renderTable(someGone ? [...HEADS, 'CALLER'] : HEADS, rows, paint, 'nobody waits for an approval')
}

const listStanding = async ({ store, team, printList }: CommandContext): Promise<number> =>
  printList(
    await store.ask('listStandingApprovals', { team: await team() }),
    ['APPROVAL', 'TOOL', 'AGENT', 'USES', 'UNTIL', 'BY', 'ARGUMENTS', 'WHY'],
    (each) => [
      each.id,
      `${each.tool} ${String(each.toolVersion)}`,
      each.agent ?? 'any',
      String(each.usesLeft),
      `${each.expiresAt.slice(0, 16)}Z`,
      each.author,
      JSON.stringify(each.arguments),
      each.reason,
    ],
    'nothing is approved in advance; cordon approvals advance TOOL does that',
  )

const list = async (context: CommandContext): Promise<number> => {
  const { store, team, print, switches, option } = context
  if (switches.has('standing')) return listStanding(context)
  const olderMs = context.timeOption('older', '30m, 8h, 7d')
  const most = context.numberOption('limit', 1, MOST - 1) ?? PAGE
  const filter = withoutUndefined({
    agent: option('agent'),
    tool: option('tool'),
    after: option('after'),
    olderSeconds: olderMs === undefined ? undefined : Math.floor(olderMs / 1000),
  })
  // One more than is shown says whether there are more.
  const found = await store.ask('listQuestions', { team: await team(), ...filter, most: most + 1 })
  const questions = found.slice(0, most)
  const last = questions.at(-1)
  print(questions, (paint) => renderQuestions(questions, paint))
  if (found.length > most && last !== undefined) {
    const typed = ['agent', 'tool', 'older', 'limit'].flatMap((name) => {
      const value = option(name)
      return value === undefined ? [] : [`--${name} ${value}`]
    })
    const next = context.again(['approvals list', ...typed, `--after ${last.id}`].join(' '))
    writeText(STDERR, `cordon: there are more; the next page: ${next}\n`)
  }
  return 0
}

const PAGE = 100
const MOST = 1000

/** All open questions, page by page. */
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

/** Until it is killed, or nobody reads its output. */
const watch = async ({ store, team, switches, paint }: CommandContext): Promise<number> => {
  const of = await team()
  const render = (event: 'asked' | 'closed', questions: readonly Question[], others: readonly Question[]) =>
    questions
      .filter(({ id }) => !others.some((other) => other.id === id))
      .map((question) => lineOf(event, question, switches.has('json'), paint))
  let open: readonly Question[] = []
  let known: string | undefined
  for (;;) {
    const next = await store.follow(
      'listQuestions',
      { team: of, most: MOST },
      withoutUndefined({ waitMs: WAIT_MS, known }),
    )
    if (next === undefined) continue
    known = next.mark
    const waiting = await restOf(store, of, next.answer)
    const lines = [...render('closed', open, waiting), ...render('asked', waiting, open)]
    open = waiting
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
  return context.print(shown, (paint) => renderQuestion(shown, paint))
}

export const approve = async (context: CommandContext): Promise<number> => {
  const { store, option, environment } = context
  const given = option('hash')
  const id = given === undefined ? await idOrFirst(context) : await idOf(context)
  const more = withoutUndefined({ reason: option('reason') })
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
      `look at it: ${context.again(`approvals show ${id}`)}; then give the hash that it prints: ` +
        context.again(`approvals approve ${id} --hash HASH`),
    )
  const dialog = openDialog()
  const paint = paintFor(STDERR, environment)
  try {
    dialog.say(`${paint('bold', 'cordon: may this run?')}\n${renderQuestion(shown, paint)}`)
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

/** Asks until the answer is yes or no. */
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
  return print(
    { id, status },
    (paint) =>
      `${paint(status === 'approved' ? 'green' : 'yellow', status)} ` +
      `${id}${status === 'pending' ? ' (more people have to say yes)' : ''}\n`,
  )
}

const MOST_USES = 1_000_000
const EXAMPLE_FORM =
  '{"type":"object","properties":{"file":{"const":"report.txt"}},"required":["file"],"additionalProperties":false}'

const advance = async (context: CommandContext): Promise<number> => {
  const { store, option, team, print, wrong } = context
  const tool = context.oneWord('name one tool')
  const [form, reason] = [option('arguments'), option('reason')]
  if (form === undefined || reason === undefined)
    throw wrong(
      'the arguments or the reason are missing',
      `give both: cordon approvals advance ${visible(tool)} --arguments '${EXAMPLE_FORM}' --reason 'every night'`,
    )
  const answer = await store.ask('approveInAdvance', {
    team: await team(),
    tool,
    arguments: schemaOf(form, wrong),
    uses: context.numberOption('uses', 1, MOST_USES) ?? 1,
    validSeconds: Math.floor((context.timeOption('for', '30m, 8h, 7d', 1000) ?? HOUR_MS) / 1000),
    reason,
    ...withoutUndefined({ agent: option('agent') }),
  })
  return print(answer, (paint) => `${paint('green', 'approved in advance')} ${answer.id}\n`)
}

const HOUR_MS = 3_600_000

const schemaOf = (text: string, wrong: CommandContext['wrong']): Readonly<Record<string, unknown>> => {
  try {
    const form: unknown = JSON.parse(text)
    if (isMapping(form)) return form
  } catch {
    // Refused below, like JSON that is not a mapping.
  }
  throw wrong(`--arguments is a JSON Schema, such as ${EXAMPLE_FORM}, not ${text}`)
}

const revoke = async ({ store, team, oneId, print }: CommandContext): Promise<number> => {
  const id = await oneId('standing approval', 'cordon approvals list --standing', async () =>
    (await store.ask('listStandingApprovals', { team: await team() })).map((each) => [each.id]),
  )
  await store.ask('revokeStandingApproval', { id })
  return print({ id, status: 'revoked' }, () => `revoked ${id}\n`)
}

const allOpen = async ({ store, team }: CommandContext): Promise<readonly Question[]> => {
  const of = await team()
  return restOf(store, of, await store.ask('listQuestions', { team: of, most: MOST }))
}

/** Without a word, the first question whose caller still waits. */
const idOrFirst = async (context: CommandContext): Promise<string> => {
  if (context.words.length > 0) return idOf(context)
  const questions = await allOpen(context)
  const first = questions.find(({ callerGoneSince }) => callerGoneSince === null)
  if (first !== undefined) return first.subjectId
  const [dead] = questions
  if (dead === undefined)
    throw context.wrong('nobody waits for an approval', `wait for a question: ${context.again('approvals watch')}`)
  throw context.wrong(
    `no caller waits for an answer: the process that asked about ${dead.subjectId} is ${callerText(dead) ?? 'gone'}`,
    `cancel the call: ${context.again(`team calls cancel ${dead.subjectId}`)}; if another process resumes it, ` +
      `approve it by its id: ${context.again(`approvals approve ${dead.subjectId}`)}`,
  )
}

/** By the id of an open question, or of its call. */
const idOf = (context: CommandContext): Promise<string> =>
  context.oneId('open question', 'cordon approvals list', async () =>
    (await allOpen(context)).map(({ id, subjectId }) => [subjectId, id]),
  )
