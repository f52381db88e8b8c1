// Answers about policies: which there are, what they grant together, and whether one allows more than another.
import { CordonError } from '../errors/index.js'
import {
  ROOT_PATH,
  beyond,
  compileNetwork,
  credentialIdsFor,
  hostText,
  parsePolicy,
  parseRequest,
  problemOfExample,
  readPolicyFile,
  renderPolicy,
  resolvePolicy,
} from '../policy/index.js'
import type { PolicyFile, Witness } from '../policy/index.js'

import { combinePolicies } from './combine-policies.js'
import { loadPolicy, readPolicy } from './policy-file.js'
import type { LoadedPolicy } from './policy-file.js'
import { findPolicies, isVouchedFor, readFound, shownAs } from './policy-sources.js'
import type { PolicyPlaces } from './policy-sources.js'

const together = (files: readonly LoadedPolicy[]) => combinePolicies(files, parsePolicy({}, 'no options'))

interface ListedPolicy {
  readonly name: string
  readonly source: string
  readonly path: string
  /** Whether it may grant: false for a project that the user does not trust. */
  readonly trusted: boolean
  readonly description: string | null
  readonly credentials: readonly string[]
  readonly problem: string | null
}

export const listPolicies = (places: PolicyPlaces): readonly ListedPolicy[] =>
  findPolicies(places).map((found) => {
    const { name, source, path, project } = found
    const place = { name, source, path, trusted: project === undefined || isVouchedFor(project, places) }
    const read = attempt(name, () => readPolicyFile(readFound(found), shownAs(found)))
    return {
      ...place,
      description: read.value?.description ?? null,
      credentials: [...new Set(read.value?.policy.credentials.map(({ id }) => id))],
      problem: read.problem,
    }
  })

/** The lines of all policies together, each with the files and lines that it is from. */
export const resolveTogether = (
  files: readonly LoadedPolicy[],
): readonly { readonly text: string; readonly from: readonly string[] }[] =>
  renderPolicy(together(files)).map(({ text, item }) => ({
    text,
    from: item === undefined ? [] : placesOf(files, item.section, item.key),
  }))

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

interface Checked {
  readonly name: string
  /** Null if it is right. */
  readonly problem: string | null
  readonly fix: string | null
}

/** Reads each policy and runs its examples. Several named ones must fit together. Without a name: every policy. */
export const checkPolicies = (words: readonly string[], places: PolicyPlaces): readonly Checked[] => {
  const results = namedOrAll(words, places).map((word) => attempt(word, () => loadPolicy(word, places)))
  const good = results.flatMap(({ value }) => value ?? [])
  const all =
    words.length > 1 && good.length === words.length
      ? [...results, attempt(words.join(' with '), () => together(good))]
      : results
  return all.map(({ name, problem, fix }) => ({ name, problem, fix }))
}

const attempt = <Value>(name: string, work: () => Value) => {
  try {
    return { name, value: work(), problem: null, fix: null }
  } catch (error) {
    if (!(error instanceof CordonError)) throw error
    return { name, value: undefined, problem: error.message, fix: error.fix ?? null }
  }
}

interface TestedExample {
  readonly at: string
  readonly request: string
  readonly expected: string
  readonly problem: string | null
}

export const testExamples = (words: readonly string[], places: PolicyPlaces): readonly TestedExample[] =>
  namedOrAll(words, places).flatMap((word) => {
    const { text, source } = readPolicy(word, places)
    const { examples, policy } = readPolicyFile(text, source)
    return examples.map((example) => ({
      at: example.at,
      request: example.text,
      expected: example.expected,
      problem: problemOfExample(example, policy) ?? null,
    }))
  })

interface Compared {
  /** What the first allows and the second does not. */
  readonly wider: readonly Witness[]
  readonly narrower: readonly Witness[]
}

export const comparePolicies = (first: string, second: string, places: PolicyPlaces): Compared => {
  const [a, b] = [together([loadPolicy(first, places)]), together([loadPolicy(second, places)])]
  return { wider: beyond(a, b, places), narrower: beyond(b, a, places) }
}

interface RequestAnswer {
  readonly request: string
  readonly allowed: boolean
  readonly because: string
  readonly credentials: readonly string[]
}

/** Whether these policies together allow a request. Nothing is sent. */
export const answerRequest = (text: string, files: readonly LoadedPolicy[]): RequestAnswer => {
  const { request, isTls } = parseRequest(text, '--request')
  const policy = together(files)
  const answer = compileNetwork(
    resolvePolicy(policy, { workspace: ROOT_PATH, home: ROOT_PATH, kind: 'process' }),
  ).answer(request)
  const allowed = answer.kind === 'allowed'
  return {
    request: text,
    allowed,
    because: becauseOf(answer, files),
    credentials: allowed && isTls ? credentialIdsFor(request, policy) : [],
  }
}

const becauseOf = (
  answer: ReturnType<ReturnType<typeof compileNetwork>['answer']>,
  files: readonly LoadedPolicy[],
): string => {
  if ('entry' in answer && answer.entry !== undefined) {
    const key = hostText(answer.entry)
    return files
      .filter(
        ({ policy: { network } }) => network.kind === 'list' && network.items.some((entry) => hostText(entry) === key),
      )
      .map(({ whereIs }) => whereIs('network', key))
      .join(', ')
  }
  if (answer.kind === 'allowed') return 'the whole network is granted'
  return answer.because === 'read-only' ? 'only reading is granted' : 'no line grants it'
}
