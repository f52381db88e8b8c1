// The question about one command, and its answers. Texts of the command, of rules and of folder names are shown so that
// they cannot act on the terminal.
import { LIMIT_FORMS, LIMIT_NAMES } from '../policy/index.js'
import type { Boundary, PathPattern } from '../policy/index.js'

import type { Paint } from '../line/text/console-text.js'
import { readWords } from '../line/text/read-words.js'
import { markedLines, visible, visibleWord } from '../line/text/visible-text.js'
import type { Dialog } from './terminal/terminal-dialog.js'

interface RunQuestion {
  readonly argv: readonly string[]
  /** The path that the first word names. */
  readonly program: string | null
  readonly cwd: string
  readonly boundary: Boundary
  readonly why: string
  /** Matching rules: file, line and reason. */
  readonly rules: readonly string[]
  /** Why it is asked again after an answer or an allow rule. */
  readonly again: readonly string[]
  /** `problem`: why this answer is not possible. */
  readonly session: { readonly name: string } | { readonly problem: string }
  readonly always: { readonly file: string } | { readonly problem: string }
}

export type RunAnswer =
  | { readonly kind: 'once' | 'session' | 'always' }
  | { readonly kind: 'reject'; readonly reason: string }
  | { readonly kind: 'edit'; readonly argv: readonly string[] }

const MOST_TRIES = 10
const COLUMNS = 74
const MARK = '  | '

export const askAboutRun = async (question: RunQuestion, dialog: Dialog, paint: Paint): Promise<RunAnswer> => {
  dialog.say(renderQuestion(question, paint))
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const line = await dialog.ask(`${choices(question)} `)
    if (line === undefined) return { kind: 'reject', reason: 'the terminal was closed' }
    const [word = '', ...rest] = line.trim().toLowerCase().split(/\s+/)
    const chosen = CHOICES.find((choice) => word !== '' && choice.startsWith(word))
    switch (chosen) {
      case 'once':
        if (rest.length === 0) return { kind: 'once' }
        break
      case 'session':
      case 'always': {
        const offered = chosen === 'session' ? question.session : question.always
        if (!('problem' in offered)) return { kind: chosen }
        dialog.say(`  ${visible(offered.problem)}\n`)
        break
      }
      case 'reject': {
        const reason = await dialog.ask('  reason, for the caller (may be empty): ')
        return {
          kind: 'reject',
          reason: reason === undefined || reason.trim() === '' ? 'no reason given' : reason.trim(),
        }
      }
      case 'edit': {
        const argv = await editWords(question.argv, dialog)
        if (argv !== undefined) return { kind: 'edit', argv }
        break
      }
      case 'help':
      case undefined:
        dialog.say(HELP)
        break
    }
  }
  return { kind: 'reject', reason: 'no answer that could be understood' }
}

const CHOICES = ['once', 'session', 'always', 'reject', 'edit', 'help'] as const

const choices = ({ session, always }: RunQuestion): string =>
  [
    'once',
    ...('problem' in session ? [] : [`session (${session.name})`]),
    ...('problem' in always ? [] : ['always']),
    'reject',
    'edit',
    'help',
  ].join(', ') + '?'

const HELP = [
  '  once      run it now',
  '  session   run it now, and in this session (--session NAME) without asking',
  '  always    run it now, and write a rule that allows exactly this',
  '  reject    do not run it',
  '  edit      change its words; the result is judged like any other command',
  '  The first letter is enough. There is no default.',
  '',
].join('\n')

const editWords = async (argv: readonly string[], dialog: Dialog): Promise<readonly string[] | undefined> => {
  const line = await dialog.ask('  words: ', argv.map(visibleWord).join(' '))
  if (line === undefined) return undefined
  const read = readWords(line)
  if (read.kind === 'words') return read.words
  dialog.say(`  ${visible(read.problem)}\n`)
  return undefined
}

const renderQuestion = (question: RunQuestion, paint: Paint): string => {
  const { argv, program, cwd, boundary, why, rules, again } = question
  const words = argv.map(visibleWord)
  const strange = words.filter((word) => /[^\u0020-\u007e]/.test(word))
  const facts: readonly (readonly [string, string])[] = [
    ['program', program === null ? 'not found' : program],
    ['in', cwd],
    ...boundaryFacts(boundary),
    ['asked', why],
    ...rules.map((rule) => ['rule', rule] as const),
    ...again.map((reason) => ['again', reason] as const),
    ...(strange.length === 0
      ? []
      : [['note', `letters beyond ASCII in: ${strange.map(spelledOut).join(' ')}`] as const]),
  ]
  return [
    `${paint('yellow', 'cordon:')} ${paint('bold', 'may this run?')}`,
    ...markedLines(words.join(' '), COLUMNS, MARK),
    ...facts.flatMap(([name, text]) =>
      markedLines(visible(text), COLUMNS - NAME_WIDTH, '').map(
        (line, at) => `  ${(at === 0 ? name : '').padEnd(NAME_WIDTH)}${line}`,
      ),
    ),
    '',
  ].join('\n')
}

const NAME_WIDTH = 10

const spelledOut = (word: string): string =>
  word.replace(/[^\u0020-\u007e]/gu, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`)

/** The boundary, in the words of the options. */
export const boundaryFacts = ({
  read,
  write,
  network,
  environment,
  exec,
  limits,
  presets,
}: Boundary): readonly (readonly [string, string])[] => [
  ['reads', listOf([...read.map(pathOf), ...presets.map((preset) => `(${preset})`)], 'the system only')],
  ['writes', listOf(write.map(pathOf), 'nothing')],
  [
    'network',
    network.kind === 'hosts'
      ? network.entries.map(({ action, text }) => (action === 'deny' ? `not ${text}` : text)).join(' ')
      : network.kind,
  ],
  [
    'variables',
    listOf(
      environment.map(({ name }) => name),
      'none',
    ),
  ],
  [
    'starts',
    exec.kind === 'list'
      ? listOf(exec.programs, 'nothing')
      : exec.kind === 'all'
        ? 'any program that it can read'
        : 'nothing but itself',
  ],
  ...(Object.keys(limits).length === 0
    ? []
    : [
        [
          'limits',
          listOf(
            LIMIT_NAMES.flatMap((name) =>
              limits[name] === undefined ? [] : [`${name} ${String(limits[name])}${UNITS[LIMIT_FORMS[name].quantity]}`],
            ),
            '',
          ),
        ] as const,
      ]),
]

const UNITS = { size: ' bytes', duration: ' ms', count: '' } as const

const pathOf = ({ path, negated }: PathPattern): string => `${negated ? '!' : ''}${path}`

const listOf = (texts: readonly string[], otherwise: string): string =>
  texts.length === 0 ? otherwise : [...new Set(texts)].join(', ')
