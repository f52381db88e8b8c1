// A remote server in a client's file. Its address and its headers move into a file of Cordon's state folder, which no
// tool can read, and `cordon mcp --config` reads them there. Uninstall moves them back.
import crypto from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { CordonError, messageOf } from 'cordon/errors'
import { isMapping } from 'cordon/shapes'

import { fail } from '../errors/errors.js'
import { ADDRESS_KEYS, HEADER_KEYS, readRemoteServer, urlOfEntry } from '../servers/remote-server.js'
import type { EntryFields } from './config-text.js'

export interface KeptRemote {
  readonly path: string
  readonly name: string
  readonly url: string
  /** As they were in the client's file. */
  readonly fields: EntryFields
}

/** `place`: the keys that lead to it. */
interface ServerPlaceInFile {
  readonly file: string
  readonly place: readonly string[]
}

const MOVED: readonly string[] = ['type', ...ADDRESS_KEYS, ...HEADER_KEYS]

/** How clients authenticate themselves. Cordon would ignore these, and the server would refuse its requests. */
const OF_CLIENTS = [
  ...['oauth', 'auth', 'authProviderType', 'headersHelper'],
  ...['bearer_token_env_var', 'env_http_headers', 'oauth_resource', 'scopes'],
]

/** They have no meaning for a remote server. For a command they would reach Cordon itself. */
const OF_COMMANDS = ['args', 'env', 'envFile', 'env_vars', 'cwd']

/** Why a remote server cannot be put behind Cordon, if it cannot. */
export const whyNotRemote = (name: string, value: EntryFields): string | undefined => {
  const has = (keys: readonly string[]): readonly string[] => keys.filter((key) => value[key] !== undefined)
  const [ofClient] = has(OF_CLIENTS)
  if (ofClient !== undefined)
    return `Cordon does not know its "${ofClient}": remove that, and log in with cordon mcp login`
  const [ofCommand] = has(OF_COMMANDS)
  if (ofCommand !== undefined) return `it is a remote server with "${ofCommand}", which is for commands: remove that`
  if (has(ADDRESS_KEYS).length > 1) return `it has several addresses (${has(ADDRESS_KEYS).join(', ')}): keep one`
  if (has(HEADER_KEYS).length > 1) return `it has several lists of headers (${has(HEADER_KEYS).join(', ')}): keep one`
  try {
    const { url } = readRemoteServer(name, `"${name}"`, value)
    return value['type'] === undefined && new URL(url).pathname.endsWith('/sse')
      ? 'its address is usual for the transport HTTP+SSE, which is not supported: if it speaks streamable HTTP, ' +
          'write "type": "http"'
      : undefined
  } catch (error) {
    if (!(error instanceof CordonError)) throw error
    return error.fix === undefined ? error.message : `${error.message} (${error.fix})`
  }
}

export const movedFields = (value: EntryFields): EntryFields =>
  Object.fromEntries(Object.entries(value).filter(([key]) => MOVED.includes(key)))

/** The same server of the same file has the same one. */
export const movedHeadersPath = (remotes: string, { file, place }: ServerPlaceInFile): string =>
  join(remotes, `${hashOfNames([file, ...place])}.json`)

/** The backup of a client's file whose headers are moved here. */
export const backupPath = (remotes: string, file: string): string =>
  join(dirname(remotes), 'backups', `${hashOfNames([file])}.before-cordon`)

const hashOfNames = (names: readonly string[]): string =>
  crypto.createHash('sha256').update(JSON.stringify(names)).digest('hex').slice(0, 32)

export const keepRemote = ({ path, name, fields }: KeptRemote): void => {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    rmSync(path, { force: true })
    const text = `${JSON.stringify({ mcpServers: { [name]: fields } }, undefined, 2)}\n`
    writeFileSync(path, text, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    throw fail('client-file-unchanged', { path, problem: messageOf(error) }, error)
  }
}

export const forgetRemote = (path: string): void => {
  rmSync(path, { force: true })
}

/**
 * What Cordon keeps for a server that these words start. Undefined if they do not name `path`. Uninstall copies what is
 * kept into the client's file, which may be one of a project. So what is kept for another server does not count.
 */
export const readKept = (words: readonly string[], path: string): KeptRemote | 'lost' | undefined => {
  if (!words.includes(configWord(path))) return undefined
  try {
    const { mcpServers } = JSON.parse(readFileSync(path, 'utf8')) as { readonly mcpServers: EntryFields }
    const [[name, fields] = ['', undefined]] = Object.entries(mcpServers)
    return isMapping(fields) ? { path, name, url: String(urlOfEntry(fields)), fields } : 'lost'
  } catch {
    return 'lost'
  }
}

export const configWord = (path: string): string => `--config=${path}`
