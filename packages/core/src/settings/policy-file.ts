// Finds the policy that a word names, or suggests the one that was probably meant.
import { basename, dirname, join, resolve } from 'node:path'

import { fail, reasonOf } from '../errors/index.js'
import type { CordonError } from '../errors/index.js'
import { existsSync, namesInFolder, readFileSync, shellWord } from '../platform/index.js'
import { loadPolicyFile, nearestKey } from '../policy/index.js'
import type { PolicyFile, ToolPolicy } from '../policy/index.js'

import { POLICY_ENDING, POLICY_SOURCES, findPolicies, isVouchedFor, readFound, shownAs } from './policy-sources.js'
import type { FoundPolicy, PolicyPlaces, PolicySource } from './policy-sources.js'

/** A policy file, and whether the user trusts it. */
export interface LoadedPolicy extends PolicyFile {
  readonly from: PolicySource | 'file'
  /** Only these get credentials from the user's files. Others get only typed ones. */
  readonly isVouched: boolean
  /** Undefined for bundled ones. */
  readonly path: string | undefined
}

/** A word with a slash or an extension is a file, any other a name, which may have a source before it. */
export const loadPolicy = (word: string, places: PolicyPlaces): LoadedPolicy => {
  const { text, source, found } = readPolicy(word, places)
  const file = loadPolicyFile(text, source)
  if (found === undefined) return { ...file, from: 'file', isVouched: false, path: resolve(places.folder, word) }
  const isVouched = found.project === undefined || isVouchedFor(found.project, places)
  if (!isVouched) refuseGrants(file, found, places)
  return { ...file, from: found.source, isVouched, path: found.source === 'bundled' ? undefined : found.path }
}

export interface PolicyText {
  readonly text: string
  /** For errors. */
  readonly source: string
  /** Undefined for a file named by its path. */
  readonly found: FoundPolicy | undefined
}

export const readPolicy = (word: string, places: PolicyPlaces): PolicyText => {
  if (word.includes('/') || POLICY_ENDING.test(word))
    return { text: readNamed(word, places), source: word, found: undefined }
  const found = findNamed(word, places)
  return { text: readFound(found), source: shownAs(found), found }
}

const readNamed = (path: string, places: PolicyPlaces): string => {
  try {
    return readFileSync(resolve(places.folder, path), 'utf8')
  } catch (cause) {
    throw fail('file-unreadable', { path, problem: reasonOf(cause), fix: wayOut(path, cause, places) }, cause)
  }
}

const QUALIFIED = new RegExp(`^(?<source>${POLICY_SOURCES.join('|')}):(?<name>.+)$`)

const findNamed = (word: string, places: PolicyPlaces): FoundPolicy => {
  const { source, name = word } = QUALIFIED.exec(word)?.groups ?? {}
  const known = findPolicies(places).filter((policy) => source === undefined || policy.source === source)
  const [first, second] = known.filter((policy) => policy.name === name)
  if (first === undefined) throw unknownName(word, known, places)
  // A project must not be able to replace a policy of the user.
  if (second !== undefined)
    throw fail('usage-error', {
      problem: `there are two policies named ${name}: ${shownAs(first)} and ${shownAs(second)}`,
      fix:
        `say which: ${typedAs(`${first.source}:${name}`, places)}, ` +
        `${typedAs(`${second.source}:${name}`, places)}, or the path of the file`,
    })
  return first
}

/** The words that name a policy in this command. */
const typedAs = (name: string, { askedBy }: PolicyPlaces): string =>
  askedBy === undefined ? `--policy ${name}` : `${askedBy} ${name}`

const didYouMean = (name: string, places: PolicyPlaces): string =>
  `did you mean${places.askedBy === undefined ? '' : ':'} ${typedAs(name, places)}?`

const unknownName = (word: string, known: readonly FoundPolicy[], places: PolicyPlaces): CordonError => {
  const near = nearestKey(
    word,
    known.map(({ name }) => name),
  )
  const file = nearestFile(places.folder, word)
  const meant = near ?? (file === undefined ? undefined : shellWord(`./${file}`))
  return fail('usage-error', {
    problem: `there is no policy named ${JSON.stringify(word)}`,
    fix:
      meant === undefined
        ? `see: cordon policy list; a file is named by its path, such as ${typedAs(`./${word}.yaml`, places)}`
        : didYouMean(meant, places),
  })
}

/** Policies of an untrusted project may only deny. */
const refuseGrants = (
  { policy, whereIs }: PolicyFile,
  { project }: Pick<FoundPolicy, 'project'>,
  { configFolder }: Pick<PolicyPlaces, 'configFolder'>,
): void => {
  const grant = firstGrant(policy)
  if (grant === undefined) return
  const folder = project ?? ''
  throw fail('policy-untrusted', {
    source: whereIs(grant),
    folder,
    what: grant,
    fix:
      `read it, and name it by its path; or add to ${join(configFolder, 'rules.yaml')}: trusted_projects: [ ` +
      `${folder} ]`,
  })
}

const firstGrant = ({
  filesystem,
  network,
  environment,
  credentials,
  exec,
  presets,
}: ToolPolicy): 'read' | 'write' | 'network' | 'environment' | 'credentials' | 'exec' | 'presets' | undefined => {
  for (const access of ['read', 'write'] as const) {
    const section = filesystem[access]
    if (section.kind === 'list' && section.items.some(({ negated }) => !negated)) return access
  }
  if (network.kind === 'all' || (network.kind === 'list' && network.items.some(({ action }) => action !== 'deny')))
    return 'network'
  if (environment.kind === 'list') return 'environment'
  if (credentials.length > 0) return 'credentials'
  if (exec.kind === 'all' || exec.kind === 'list') return 'exec'
  return presets.length > 0 ? 'presets' : undefined
}

const wayOut = (word: string, cause: unknown, places: PolicyPlaces): string => {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  if (code === 'EACCES') return `make it readable for this user: ls -l ${shellWord(word)}`
  if (code === 'EISDIR') return 'name a file in it'
  const folder = dirname(word)
  const there = resolve(places.folder, folder)
  if (!existsSync(there)) return `there is no folder ${folder} here`
  const near = nearestFile(there, basename(word))
  return near === undefined
    ? `files are looked for from the current directory, ${places.folder}`
    : didYouMean(shellWord(`${word.startsWith('/') ? '' : './'}${join(folder, near)}`), places)
}

const nearestFile = (folder: string, name: string): string | undefined => {
  const files = namesInFolder(folder).filter((file) => POLICY_ENDING.test(file))
  const stem = nearestKey(
    name.replace(/\.\w+$/, ''),
    files.map((file) => file.replace(POLICY_ENDING, '')),
  )
  return files.find((file) => file.replace(POLICY_ENDING, '') === stem)
}
