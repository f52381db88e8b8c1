// Policies for the hosts in the configuration of npm, pip or apt. The program is asked in a cell without network, which
// can read its configuration. Its folder is no project: a repository must not choose the hosts of its own scripts.
import { lookup } from 'node:dns/promises'
import { existsSync, readFileSync } from 'node:fs'

import { CordonError, fail } from '../errors/index.js'
import {
  ROOT_PATH,
  escapeGlob,
  isNobodysOwn,
  parsePolicy,
  parseRequestHost,
  parseResolved,
  resolvePolicy,
} from '../policy/index.js'
import type { AbsolutePath, Client, IpAddress, ToolPolicy } from '../policy/index.js'
import { openSandbox } from '../sandbox/index.js'
import type { Form, Sandbox } from '../sandbox/index.js'

import type { Environment } from '../line/command-line.js'
import { clientQuestion } from './client-questions.js'
import type { ClientAnswer } from './client-questions.js'
import type { EgressOrder } from './egress-order.js'
import type { LoadedPolicy } from './policy-file.js'

export interface Asking {
  readonly environment: Environment
  readonly home: AbsolutePath
  readonly form: Form | 'auto'
}

interface WithClientHosts extends EgressOrder {
  readonly policies: readonly LoadedPolicy[]
}

export const withClientHosts = async (policies: readonly LoadedPolicy[], asking: Asking): Promise<WithClientHosts> => {
  const sandbox = await openSandbox({ form: asking.form, nursery: 'none' })
  try {
    const found = await Promise.all(
      [...new Set(policies.flatMap(({ hostsFrom }) => hostsFrom ?? []))].map((client) =>
        hostsOf(client, asking, sandbox),
      ),
    )
    return {
      policies: [...policies, ...found.map(({ policy }) => policy)],
      authorities: found.flatMap(({ authorities }) => authorities),
      pins: new Map(found.flatMap(({ pins }) => [...pins])),
    }
  } finally {
    await sandbox.close()
  }
}

interface ClientHosts extends EgressOrder {
  readonly policy: LoadedPolicy
}

const hostsOf = async (client: Client, asking: Asking, sandbox: Sandbox): Promise<ClientHosts> => {
  const answer = await ask(client, asking, sandbox)
  const urls = answer.urls.map((text) => readUrl(text, client))
  if (answer.proxy !== undefined)
    throw unknown(
      client,
      'it uses a proxy, through which the command could reach every host of that proxy',
      'grant its hosts with --net, if they can be reached without the proxy',
    )
  if (urls.length === 0 && answer.folders.length === 0)
    throw unknown(
      client,
      'its configuration shows no address; one with a password is not shown',
      `check the configuration of ${client}`,
    )
  const source = `the configuration of ${client}`
  const reads = [
    ...answer.reads.filter((path) => path.startsWith('!') || existsSync(path)),
    ...answer.folders.filter((path) => existsSync(path)).map(escapeGlob),
  ]
  const variables = Object.entries(answer.variables)
    .filter(([name]) => /^\w+$/.test(name))
    .map(([name, text]) => `${name}=${withoutLocalName(text)}`)
  const policy = parsePolicy(
    {
      ...(urls.length === 0 ? {} : { network: [...new Set(urls.map(hostEntry))], egress_class: 'read_only' }),
      ...(reads.length === 0 ? {} : { filesystem: { read: reads } }),
      ...(variables.length === 0 ? {} : { environment: variables }),
    },
    source,
  )
  return {
    policy: {
      source,
      description: undefined,
      hostsFrom: undefined,
      policy,
      examples: [],
      whereIs: () => source,
      from: 'bundled',
      isVouched: true,
      path: undefined,
    },
    authorities: answer.authorities.flatMap(readCertificates),
    pins: new Map((await Promise.all(urls.map(({ hostname }) => addressesOf(hostname)))).flat()),
  }
}

const ask = async (client: Client, { environment, home, form }: Asking, sandbox: Sandbox): Promise<ClientAnswer> => {
  const { argv, reads, variables, read } = clientQuestion(client, home, environment)
  const passed = Object.entries(environment).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && variables.test(entry[0]) && /^\w+$/.test(entry[0]),
  )
  const policy: ToolPolicy = parsePolicy(
    {
      presets: ['toolchains'],
      network: 'none',
      filesystem: { read: reads.filter((path) => existsSync(path)).map(escapeGlob) },
      environment: [`HOME=${home}`, ...passed.map(([name]) => name)],
      limits: { wall: '60s' },
    },
    `the question to ${client}`,
  )
  const { PATH: searchPath } = environment
  const result = await sandbox
    .run({
      boundary: resolvePolicy(policy, { workspace: ROOT_PATH, home, kind: 'process' }),
      cwd: ROOT_PATH,
      argv,
      form,
      hostEnvironment: Object.fromEntries(passed),
      ...(searchPath === undefined ? {} : { searchPath }),
    })
    .catch((error: unknown) => {
      throw error instanceof CordonError && error.code === 'program-not-found'
        ? unknown(
            client,
            `${argv[0] ?? ''} is not installed here`,
            `install ${client}, or grant its hosts with --net`,
            error,
          )
        : error
    })
  const isDone = result.status === 'exited' && result.exitCode === 0
  if (!isDone)
    throw unknown(
      client,
      `${client} failed: ${lastLine(result.stderr)}`,
      `check that it works: ${argv.slice(0, 3).join(' ')}`,
    )
  return read(Buffer.from(result.stdout).toString('utf8'), environment)
}

const unknown = (client: Client, problem: string, fix: string, cause?: unknown): CordonError =>
  fail('client-unreadable', { client, problem, fix }, cause)

const lastLine = (bytes: Uint8Array): string =>
  Buffer.from(bytes).toString('utf8').trim().split('\n').at(-1)?.slice(0, 200) ?? ''

const readUrl = (text: string, client: Client): URL => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw unknown(
      client,
      'its configuration has an address that is not an HTTP URL',
      `correct the configuration of ${client}`,
    )
  // The error does not repeat the URL, which has a password.
  if (url.username !== '' || url.password !== '')
    throw unknown(
      client,
      `its configuration has a user and password in the address of ${url.hostname}, which the command would get`,
      'remove them from the address, and write a policy with that host and a credential (as: basic); pass its ' +
        'value with --secret',
    )
  return url
}

/** In a cell localhost is the cell itself. */
const withoutLocalName = (text: string): string => text.replaceAll(/(https?:\/\/)localhost(?=[:/]|$)/g, '$1127.0.0.1')

const hostEntry = ({ hostname, port }: URL): string => {
  const host = hostname === 'localhost' ? '127.0.0.1' : hostname
  return port === '' ? host.replace(/^\[(.*)\]$/, '$1') : `${host}:${port}`
}

/**
 * A host in the user's own configuration may have a private address. It is resolved once, so that nobody can redirect
 * it later.
 */
const addressesOf = async (hostname: string): Promise<readonly (readonly [string, readonly IpAddress[]])[]> => {
  const host = parseRequestHost(hostname)
  if (host?.kind !== 'name' || hostname === 'localhost') return []
  const found = await lookup(host.name, { all: true }).catch(() => [])
  const addresses = found.flatMap(({ address }) => parseResolved(address) ?? [])
  // No registry has the address of a cloud's metadata service. The proxy refuses such a host, because it is not pinned.
  return addresses.length > 0 && !addresses.some(isNobodysOwn) ? [[host.name, addresses]] : []
}

const readCertificates = (path: string): readonly string[] => {
  try {
    return [readFileSync(path, 'utf8')]
  } catch {
    // Without the file fewer certificates are trusted.
    return []
  }
}
