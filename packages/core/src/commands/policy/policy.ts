// `cordon policy`: lists, shows, checks, tests and compares policies.
import { canonicalPolicy, describeWitness, readPolicyFile } from '../../policy/index.js'
import type { Witness } from '../../policy/index.js'

import { unknownAction, usage } from '../../line/arguments.js'
import type { CommandLine } from '../../line/caller.js'
import { STDOUT, oneLine, paintFor, writeText } from '../../line/text/console-text.js'
import type { Paint } from '../../line/text/console-text.js'
import { configFolderOf, homeOf } from '../../settings/own-folders.js'
import { loadPolicy, readPolicy } from '../../settings/policy-file.js'
import type { LoadedPolicy } from '../../settings/policy-file.js'
import type { PolicyPlaces } from '../../settings/policy-sources.js'
import {
  answerRequest,
  checkPolicies,
  comparePolicies,
  listPolicies,
  resolveTogether,
  testExamples,
} from '../../settings/review-policies.js'

const COMMAND = 'cordon policy'
const EXIT_WRONG = 1

interface Question {
  readonly words: readonly string[]
  readonly requests: readonly string[]
  readonly places: PolicyPlaces
  readonly paint: Paint
}

interface Answer {
  readonly json: () => unknown
  readonly text: () => string
  /** Default: true. */
  readonly isRight?: boolean
}

export const policy = ({ given: { switches, values, rest }, environment, folder }: CommandLine): Promise<number> => {
  const [word, ...words] = rest
  const actions: Readonly<Record<string, (question: Question) => Answer>> = {
    list,
    show,
    resolve,
    check,
    test,
    compare,
  }
  const action = word !== undefined && Object.hasOwn(actions, word) ? actions[word] : undefined
  if (action === undefined) throw unknownAction(word, Object.keys(actions), COMMAND)
  const home = homeOf(environment)
  const places = {
    workspace: folder(),
    folder: folder(),
    home,
    configFolder: configFolderOf(environment, home),
    ruleFiles: values.get('rules') ?? [],
    askedBy: `${COMMAND} ${word ?? ''}`,
  }
  const requests = values.get('request') ?? []
  const { json, text, isRight = true } = action({ words, requests, places, paint: paintFor(STDOUT, environment) })
  writeText(STDOUT, switches.has('json') ? `${JSON.stringify(json(), undefined, 2)}\n` : text())
  return Promise.resolve(isRight ? 0 : EXIT_WRONG)
}

const textOf = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('')

const list = ({ words, places, paint }: Question): Answer => {
  if (words.length > 0) throw usage(`list takes no names: ${words.join(' ')}`, COMMAND)
  const listed = listPolicies(places)
  const width = Math.max(...listed.map(({ name }) => name.length))
  const lineOf = ({ name, source, path, description, problem, trusted }: (typeof listed)[number]): string => {
    const text = problem === null ? (description ?? path) : `${paint('red', 'wrong:')} ${problem}`
    const limit = trusted ? '' : paint('yellow', ' (project not trusted: can only narrow)')
    return `${paint('bold', name.padEnd(width))}  ${source.padEnd(7)}  ${oneLine(text)}${limit}`
  }
  return { json: () => listed, text: () => textOf(listed.map(lineOf)) }
}

const show = ({ words, places }: Question): Answer => {
  const [word, ...more] = words
  if (word === undefined || more.length > 0)
    throw usage('show takes one policy', COMMAND, 'name one of: cordon policy list')
  const { text, source, found } = readPolicy(word, places)
  const json = () => {
    const file = readPolicyFile(text, source)
    return {
      name: found?.name ?? word,
      source: found?.source ?? 'file',
      path: found?.path ?? word,
      description: file.description ?? null,
      policy: JSON.parse(canonicalPolicy(file.policy)) as unknown,
      examples: file.examples.length,
    }
  }
  return { json, text: () => text }
}

const loadAll = ({ words, places }: Question): readonly LoadedPolicy[] => {
  if (words.length === 0)
    throw usage('no policy is named', COMMAND, 'name at least one of: cordon policy list; or a file: ./NAME.yaml')
  return words.map((word) => loadPolicy(word, places))
}

const resolve = (question: Question): Answer => {
  const files = loadAll(question)
  const lines = resolveTogether(files)
  const width = Math.min(72, Math.max(0, ...lines.map(({ text }) => text.length)))
  const lineOf = ({ text, from }: (typeof lines)[number]): string =>
    from.length === 0
      ? oneLine(text)
      : `${oneLine(text).padEnd(width)}  ${question.paint('dim', `# ${oneLine(from.join(', '))}`)}`
  return {
    json: () => ({ policies: files.map(({ source, from }) => ({ source, from })), lines }),
    text: () => textOf(lines.map(lineOf)),
  }
}

const check = ({ words, places, paint }: Question): Answer => {
  const checked = checkPolicies(words, places)
  const lineOf = ({ name, problem, fix }: (typeof checked)[number]): string => {
    if (problem === null) return `${paint('green', 'right')}  ${oneLine(name)}`
    const start = problem.startsWith(`${name}:`) ? '' : `${oneLine(name)}: `
    return `${paint('red', 'wrong')}  ${start}${oneLine(problem)}${fix === null ? '' : ` (${oneLine(fix)})`}`
  }
  return {
    json: () => checked,
    text: () => textOf(checked.map(lineOf)),
    isRight: checked.every(({ problem }) => problem === null),
  }
}

const test = (question: Question): Answer => {
  const { words, places, requests, paint } = question
  if (requests.length > 0) return testRequests(requests, loadAll(question), paint)
  const outcomes = testExamples(words, places)
  const failed = outcomes.filter(({ problem }) => problem !== null).length
  const lineOf = ({ at, request, expected, problem }: (typeof outcomes)[number]): string =>
    `${problem === null ? paint('green', 'right') : paint('red', 'wrong')}  ${oneLine(at)}: ` +
    `${oneLine(request)} ${problem === null ? `is ${expected}` : `: ${problem}`}`
  const sum = `${String(outcomes.length)} examples, ${failed === 0 ? 'all of them right' : `${String(failed)} wrong`}`
  return { json: () => outcomes, text: () => textOf([...outcomes.map(lineOf), sum]), isRight: failed === 0 }
}

const testRequests = (requests: readonly string[], files: readonly LoadedPolicy[], paint: Paint): Answer => {
  const answers = requests.map((text) => answerRequest(text, files))
  const lineOf = ({ request, allowed, because, credentials }: (typeof answers)[number]): string =>
    `${allowed ? paint('green', 'allowed') : paint('red', 'denied')}  ${oneLine(request)}: ` +
    `${oneLine(because)}${credentials.length === 0 ? '' : `, with ${credentials.join(', ')}`}`
  return {
    json: () => answers,
    text: () => textOf(answers.map(lineOf)),
    isRight: answers.every(({ allowed }) => allowed),
  }
}

/** Values of variables may be secrets. */
const withoutValue = (witness: Witness): unknown =>
  witness.kind === 'environment' && witness.entry.value.kind === 'set'
    ? { ...witness, entry: { name: witness.entry.name, value: { kind: 'set' } } }
    : witness

/** The exit status says whether the first allows more. The text also says what the second allows beyond it. */
const compare = ({ words, places, paint }: Question): Answer => {
  const [first, second, ...more] = words
  if (first === undefined || second === undefined || more.length > 0)
    throw usage('compare takes two policies', COMMAND, 'name two: cordon policy compare NEW.yaml OLD.yaml')
  const { wider, narrower } = comparePolicies(first, second, places)
  const [a, b] = [oneLine(first), oneLine(second)]
  const isWithin = wider.length === 0
  const described = (witness: Witness): string => `  ${oneLine(describeWitness(witness))}`
  const lines = [
    isWithin
      ? `${paint('green', 'within')}  ${a} allows nothing that ${b} does not`
      : `${paint('red', 'beyond')}  ${a} allows more than ${b}:`,
    ...wider.map(described),
    ...(narrower.length > 0 ? [`${b} allows more than ${a}:`] : []),
    ...narrower.map(described),
  ]
  return {
    json: () => ({ within: isWithin, beyond: wider.map(withoutValue), less: narrower.map(withoutValue) }),
    text: () => textOf(lines),
    isRight: isWithin,
  }
}
