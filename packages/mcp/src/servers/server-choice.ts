// The servers that the command line names: one by its words, or those of a file with "mcpServers".
import { basename } from 'node:path'

import { nearestKey } from 'cordon/policy'
import { isMapping, isTexts } from 'cordon/shapes'
import { readGivenDocument, usage } from 'cordon/commands'
import type { Arguments } from 'cordon/commands'

import { fail } from '../errors/errors.js'
import { namesCordon } from '../consent/index.js'
import { packageCallOf } from '../packages/package-words.js'
import { bridgeTo, parsePublished } from './bridge.js'
import { readRemoteServer, urlOfEntry } from './remote-server.js'
import type { RemoteServer } from './remote-server.js'

/** How a server speaks with the gateway. */
export type Transport =
  | { readonly kind: 'stdio' }
  /** Over HTTP, inside its cell. */
  | { readonly kind: 'published'; readonly url: string }
  | { readonly kind: 'remote'; readonly remote: RemoteServer }

export interface ChosenServer {
  readonly name: string
  readonly argv: readonly string[]
  /** Variables that the file sets. */
  readonly variables: Readonly<Record<string, string>>
  readonly cwd: string | undefined
  readonly transport: Transport
}

const COMMAND = 'cordon mcp'

export const chooseServers = ({ rest, values }: Arguments): readonly ChosenServer[] => {
  const [file, wanted, publish] = ['config', 'server', 'publish'].map((name) => values.get(name)?.[0])
  if (file === undefined) {
    if (rest.length === 0) throw usage('no server given', COMMAND, `${COMMAND} -- SERVER…, or ${COMMAND} --config FILE`)
    const name = nameFor(wanted ?? programName(rest))
    requireOwnName(name, '--server')
    return [{ name, argv: rest, variables: {}, cwd: undefined, transport: transportOf(publish) }]
  }
  if (rest.length > 0)
    throw usage('--config FILE names the servers, and so do words after --', COMMAND, 'leave one out')
  const { entries, lineOf } = entriesOf(file)
  const names = Object.keys(entries)
  if (wanted !== undefined && !names.includes(wanted)) throw unknownServer(file, wanted, names)
  const chosen = names.filter((name) => (wanted === undefined ? !isDisabled(entries[name]) : name === wanted))
  if (chosen.length === 0) throw invalid(file, 'no server is in it', 'add one below "mcpServers"')
  const servers = chosen.map((name) => readServer(lineOf, name, entries[name], transportOf(publish)))
  if (publish !== undefined && servers.length > 1)
    throw usage('--publish is for one server', COMMAND, 'choose one with --server NAME')
  const origin = values.get('origin')?.[0]
  if (origin !== undefined) for (const server of servers) requireOrigin(server, origin)
  const twice = servers.find(({ name }, at) => servers.findIndex((other) => other.name === name) !== at)
  for (const { name } of servers) requireOwnName(name, lineOf(name))
  if (twice !== undefined) throw invalid(lineOf(twice.name), `two servers would be called ${twice.name}`, 'rename one')
  return servers
}

/** The file of a project names the host that people review. The address itself is in a file of the user. */
const requireOrigin = ({ name, transport }: ChosenServer, origin: string): void => {
  const actual = transport.kind === 'remote' ? new URL(transport.remote.url).origin : 'no host'
  if (actual !== origin)
    throw usage(`--origin is ${origin}, and "${name}" is at ${actual}`, COMMAND, 'correct one of them')
}

/** Clients show the name of a server beside its questions. */
const requireOwnName = (name: string, place: string): void => {
  if (namesCordon(name.replaceAll(/[_-]/g, ' ')))
    throw invalid(place, `the name "${name}" of a server looks like that of Cordon`, 'give it another name')
}

const transportOf = (publish: string | undefined): Transport =>
  publish === undefined ? { kind: 'stdio' } : { kind: 'published', url: parsePublished(publish, '--publish') }

/** The place of a server, or of a key of it, such as `mcp.json:7`. */
type LineOf = (...keys: readonly string[]) => string

const entriesOf = (file: string): { readonly entries: Readonly<Record<string, unknown>>; readonly lineOf: LineOf } => {
  const fix = 'name a file such as { "mcpServers": { "files": { "command": "mcp-server-filesystem", "args": ["."] } } }'
  const { node } = readGivenDocument(file, fix)
  const servers = isMapping(node.value) ? node.value['mcpServers'] : undefined
  if (!isMapping(servers)) throw invalid(file, 'it has no "mcpServers"', fix)
  return { entries: servers, lineOf: (...keys) => node.locate(['mcpServers', ...keys]) }
}

const isDisabled = (entry: unknown): boolean => isMapping(entry) && entry['disabled'] === true

/** Other keys belong to other programs. */
const readServer = (lineOf: LineOf, name: string, entry: unknown, transport: Transport): ChosenServer => {
  if (!isMapping(entry)) throw invalid(lineOf(name), `"${name}" is not a mapping`, 'give it a "command"')
  const { command, args = [], env = {}, cwd } = entry
  if (command === undefined && urlOfEntry(entry) !== undefined)
    return remoteServer(lineOf(name), name, entry, transport)
  if (typeof command !== 'string') throw withoutCommand(lineOf, name, entry)
  if (!isTexts(args))
    throw invalid(lineOf(name, 'args'), `"args" of "${name}" is not a list of texts`, 'write it like ["-y", "."]')
  if (!isMapping(env) || !isTexts(Object.values(env)))
    throw invalid(
      lineOf(name, 'env'),
      `"env" of "${name}" is not a mapping of names to texts`,
      'write it like { "LANG": "C" }',
    )
  if (cwd !== undefined && typeof cwd !== 'string')
    throw invalid(lineOf(name, 'cwd'), `"cwd" of "${name}" is not a text`, 'name a folder')
  const variables = env as ChosenServer['variables']
  return { name: nameFor(name), argv: [command, ...args], variables, cwd, transport }
}

const withoutCommand = (lineOf: LineOf, name: string, entry: Readonly<Record<string, unknown>>) => {
  if ('command' in entry)
    return invalid(lineOf(name, 'command'), `"command" of "${name}" is not a text`, 'name a program')
  const problem = `"${name}" has no "command" and no "url"`
  for (const key of Object.keys(entry)) {
    const near = nearestKey(key, ['command', 'url'])
    if (near !== undefined) return invalid(lineOf(name, key), problem, `did you mean "${near}"?`)
  }
  return invalid(lineOf(name), problem, 'add one of them')
}

const remoteServer = (
  line: string,
  name: string,
  entry: Readonly<Record<string, unknown>>,
  { kind }: Transport,
): ChosenServer => {
  if (kind === 'published') throw usage(`"${name}" is a remote server, and --publish is for others`, COMMAND)
  const remote = readRemoteServer(nameFor(name), `${line}: "${name}"`, entry)
  return {
    name: nameFor(name),
    argv: bridgeTo(remote.url),
    variables: {},
    cwd: undefined,
    transport: { kind: 'remote', remote },
  }
}

/** Names of tools begin with it and two lines, and models accept few characters. */
export const nameFor = (name: string): string =>
  name
    .replaceAll(/[^A-Za-z0-9_-]/g, '_')
    .replaceAll(/_{2,}/g, '_')
    .slice(0, 40)
    .replaceAll(/^_|_$/g, '') || 'server'

const INTERPRETERS: ReadonlySet<string> = new Set(['node', 'bun', 'deno', 'python', 'python3', 'uv'])

/** Without a version: what a server was trusted with stays with its name. */
const programName = (argv: readonly string[]): string => {
  const [program = '', ...words] = argv
  const ofPackage = packageCallOf(argv)?.name.split('/').at(-1)
  if (ofPackage !== undefined) return ofPackage
  const first = basename(program)
  const script = INTERPRETERS.has(first) ? words.find((word) => !word.startsWith('-')) : undefined
  if (script === undefined) return first
  const names = script.replace(/\.\w+$/, '').split('/')
  return names.findLast((name) => name !== '' && !UNNAMING.has(name)) ?? first
}

/** Files and folders that say nothing about the server in them. */
const UNNAMING: ReadonlySet<string> = new Set(['index', 'main', 'server', 'cli', 'dist', 'build', 'src', 'lib', 'bin'])

const invalid = (place: string, problem: string, fix: string) =>
  fail('usage-error', { problem: `${place}: ${problem}`, fix })

const unknownServer = (file: string, wanted: string, names: readonly string[]) => {
  const near = nearestKey(wanted, names)
  return invalid(
    file,
    `there is no server "${wanted}"`,
    near === undefined ? `there are: ${names.join(', ')}` : `did you mean --server ${near}?`,
  )
}
