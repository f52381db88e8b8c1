// `cordon policy`: lists, shows, checks, tests and compares policies.
import { CordonError } from '../../errors/index.js'
import {
  beyond,
  canonicalPolicy,
  describeWitness,
  parseAbsolutePath,
  parsePolicy,
  problemOfExample,
  readPolicyFile,
  renderPolicy,
} from '../../policy/index.js'
import type { PolicyFile, Witness } from '../../policy/index.js'

import { unknownAction, usage } from '../../line/arguments.js'
import { combinePolicies } from '../../settings/combine-policies.js'
import type { CommandLine } from '../../line/command-line.js'
import { STDOUT, oneLine, paintFor, writeText } from '../../line/text/console-text.js'
import type { Paint } from '../../line/text/console-text.js'
import { configFolderOf, homeOf } from '../../settings/own-folders.js'
import { loadPolicy, readPolicy } from '../../settings/policy-file.js'
import type { LoadedPolicy } from '../../settings/policy-file.js'
import { answerRequest } from './policy-request.js'
import { findPolicies, isVouchedFor, readFound, shownAs } from '../../settings/policy-sources.js'
import type { FoundPolicy, PolicyPlaces } from '../../settings/policy-sources.js'

const COMMAND = 'cordon policy'
const EXIT_WRONG = 1
/** No options beside policies. */
const NO_OPTIONS = parsePolicy({}, COMMAND)

interface Question {
  readonly words: readonly string[]
  readonly requests: readonly string[]
  readonly places: PolicyPlaces
  readonly json: boolean
  readonly paint: Paint
}

export const policy = ({ given: { switches, values, rest }, environment }: CommandLine): Promise<number> => {
  const [word, ...words] = rest
  const actions: Readonly<Record<string, (question: Question) => number>> = {
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
    workspace: parseAbsolutePath(process.cwd(), 'the working directory'),
    home,
    configFolder: configFolderOf(environment, home),
    ruleFiles: values.get('rules') ?? [],
    askedBy: `${COMMAND} ${word ?? ''}`,
  }
  const status = action({
    words,
    requests: values.get('request') ?? [],
    places,
    json: switches.has('json'),
    paint: paintFor(STDOUT, environment),
  })
  return Promise.resolve(status)
}

const print = (line: string): void => {
  writeText(STDOUT, `${line}\n`)
}

const printJson = (value: unknown): void => {
  print(JSON.stringify(value, undefined, 2))
}

const list = ({ words, places, json, paint }: Question): number => {
  if (words.length > 0) throw usage(`list takes no names: ${words.join(' ')}`, COMMAND)
  const listed = findPolicies(places).map((found) => describe(found, places))
  if (json) {
    printJson(listed)
    return 0
  }
  const width = Math.max(...listed.map(({ name }) => name.length))
  for (const { name, source, path, description, problem, trusted } of listed) {
    const text = problem === null ? (description ?? path) : `${paint('red', 'wrong:')} ${problem}`
    print(
      `${paint('bold', name.padEnd(width))}  ${source.padEnd(7)}  ` +
        `${oneLine(text)}${trusted ? '' : paint('yellow', ' (project not trusted: can only narrow)')}`,
    )
  }
  return 0
}

const describe = (found: FoundPolicy, places: PolicyPlaces) => {
  const { name, source, path, project } = found
  const place = { name, source, path, trusted: project === undefined || isVouchedFor(project, places) }
  try {
    const { description, policy: read } = readPolicyFile(readFound(found), shownAs(found))
    return {
      ...place,
      description: description ?? null,
      credentials: [...new Set(read.credentials.map(({ id }) => id))],
      problem: null,
    }
  } catch (error) {
    if (!(error instanceof CordonError)) throw error
    return { ...place, description: null, credentials: [], problem: error.message }
  }
}

const show = ({ words, places, json }: Question): number => {
  const [word, ...more] = words
  if (word === undefined || more.length > 0)
    throw usage('show takes one policy', COMMAND, 'name one of: cordon policy list')
  const { text, source, found } = readPolicy(word, places)
  if (json) {
    const file = readPolicyFile(text, source)
    printJson({
      name: found?.name ?? word,
      source: found?.source ?? 'file',
      path: found?.path ?? word,
      description: file.description ?? null,
      policy: JSON.parse(canonicalPolicy(file.policy)) as unknown,
      examples: file.examples.length,
    })
  } else writeText(STDOUT, text)
  return 0
}

const loadAll = ({ words, places }: Question): readonly LoadedPolicy[] => {
  if (words.length === 0)
    throw usage('no policy is named', COMMAND, 'name at least one of: cordon policy list; or a file: ./NAME.yaml')
  return words.map((word) => loadPolicy(word, places))
}

const resolve = (question: Question): number => {
  const files = loadAll(question)
  const lines = renderPolicy(combinePolicies(files, NO_OPTIONS)).map(({ text, item }) => ({
    text,
    from: item === undefined ? [] : placesOf(files, item.section, item.key),
  }))
  if (question.json) printJson({ policies: files.map(({ source, from }) => ({ source, from })), lines })
  else {
    const width = Math.min(72, Math.max(0, ...lines.map(({ text }) => text.length)))
    for (const { text, from } of lines)
      print(
        from.length === 0
          ? oneLine(text)
          : `${oneLine(text).padEnd(width)}  ${question.paint('dim', `# ${oneLine(from.join(', '))}`)}`,
      )
  }
  return 0
}

/** The files with this item, each with its line. */
const placesOf = (
  files: readonly LoadedPolicy[],
  section: Parameters<PolicyFile['whereIs']>[0],
  key: string,
): readonly string[] =>
  files
    .filter(({ policy: each }) => renderPolicy(each).some(({ item }) => item?.section === section && item.key === key))
    .map(({ whereIs }) => whereIs(section, key))

const namedOrAll = (words: readonly string[], places: PolicyPlaces): readonly string[] =>
  words.length > 0 ? words : findPolicies(places).map(({ source, name }) => `${source}:${name}`)

const check = ({ words, places, json, paint }: Question): number => {
  const named = namedOrAll(words, places)
  const results = named.map((word) => attempt(word, () => loadPolicy(word, places)))
  const good = results.flatMap(({ value }) => value ?? [])
  const together =
    words.length > 1 && good.length === words.length
      ? [attempt(words.join(' with '), () => combinePolicies(good, NO_OPTIONS))]
      : []
  const all = [...results, ...together]
  if (json) printJson(all.map(({ name, problem, fix }) => ({ name, problem, fix })))
  else {
    for (const { name, problem, fix } of all)
      print(
        problem === null
          ? `${paint('green', 'right')}  ${oneLine(name)}`
          : `${paint('red', 'wrong')}  ` +
              `${problem.startsWith(`${name}:`) ? '' : `${oneLine(name)}: `}${oneLine(problem)}${fix === null ? '' : ` (${oneLine(fix)})`}`,
      )
  }
  return all.every(({ problem }) => problem === null) ? 0 : EXIT_WRONG
}

const attempt = <Value>(name: string, work: () => Value) => {
  try {
    return { name, value: work(), problem: null, fix: null }
  } catch (error) {
    if (!(error instanceof CordonError)) throw error
    return { name, value: undefined, problem: error.message, fix: error.fix ?? null }
  }
}

const test = (question: Question): number => {
  const { words, places, requests, json, paint } = question
  if (requests.length > 0) {
    const files = loadAll(question)
    return tell(
      requests.map((text) => answerRequest(text, files)),
      json,
      paint,
    )
  }
  const named = namedOrAll(words, places)
  const outcomes = named.flatMap((word) => {
    const { text, source } = readPolicy(word, places)
    const file = readPolicyFile(text, source)
    return file.examples.map((example) => ({
      at: example.at,
      request: example.text,
      expected: example.expected,
      problem: problemOfExample(example, file.policy) ?? null,
    }))
  })
  if (json) printJson(outcomes)
  else {
    for (const { at, request, expected, problem } of outcomes)
      print(
        `${problem === null ? paint('green', 'right') : paint('red', 'wrong')}  ${oneLine(at)}: ` +
          `${oneLine(request)} ${problem === null ? `is ${expected}` : `: ${problem}`}`,
      )
    const failed = outcomes.filter(({ problem }) => problem !== null).length
    print(`${String(outcomes.length)} examples, ${failed === 0 ? 'all of them right' : `${String(failed)} wrong`}`)
  }
  return outcomes.every(({ problem }) => problem === null) ? 0 : EXIT_WRONG
}

const tell = (answers: readonly ReturnType<typeof answerRequest>[], json: boolean, paint: Paint): number => {
  if (json) printJson(answers)
  else
    for (const { request, allowed, because, credentials } of answers)
      print(
        `${allowed ? paint('green', 'allowed') : paint('red', 'denied')}  ${oneLine(request)}: ` +
          `${oneLine(because)}${credentials.length === 0 ? '' : `, with ${credentials.join(', ')}`}`,
      )
  return answers.every(({ allowed }) => allowed) ? 0 : EXIT_WRONG
}

/** Values of variables may be secrets. */
const withoutValue = (witness: Witness): unknown =>
  witness.kind === 'environment' && witness.entry.value.kind === 'set'
    ? { ...witness, entry: { name: witness.entry.name, value: { kind: 'set' } } }
    : witness

/** The exit status says whether the first allows more. The text also says what the second allows beyond it. */
const compare = (question: Question): number => {
  const { words, places, json, paint } = question
  const [first, second, ...more] = words
  if (first === undefined || second === undefined || more.length > 0)
    throw usage('compare takes two policies', COMMAND, 'name two: cordon policy compare NEW.yaml OLD.yaml')
  const read = (word: string) => combinePolicies(loadAll({ ...question, words: [word] }), NO_OPTIONS)
  const [a, b] = [read(first), read(second)]
  const context = { workspace: places.workspace, home: places.home }
  const wider = beyond(a, b, context)
  const narrower = beyond(b, a, context)
  if (json) printJson({ within: wider.length === 0, beyond: wider.map(withoutValue), less: narrower.map(withoutValue) })
  else {
    print(
      wider.length === 0
        ? `${paint('green', 'within')}  ${oneLine(first)} allows nothing that ${oneLine(second)} does not`
        : `${paint('red', 'beyond')}  ${oneLine(first)} allows more than ${oneLine(second)}:`,
    )
    for (const witness of wider) print(`  ${oneLine(describeWitness(witness))}`)
    if (narrower.length > 0) print(`${oneLine(second)} allows more than ${oneLine(first)}:`)
    for (const witness of narrower) print(`  ${oneLine(describeWitness(witness))}`)
  }
  return wider.length === 0 ? 0 : EXIT_WRONG
}
