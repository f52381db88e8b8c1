// The URL of a server that the user named: a URL, or a name from a file of a client.
import { resolve } from 'node:path'

import { isMapping, isTexts } from 'cordon/shapes'
import { homeOf, remotesFolderOf, usage, visible, visibleWord } from 'cordon/commands'
import type { Environment } from 'cordon/commands'

import { parseServerUrl } from '../login/index.js'
import { urlOfEntry } from '../servers/remote-server.js'
import { clientFiles } from './clients.js'
import type { ClientFile } from './clients.js'
import { readConfig } from './config-file.js'
import { movedHeadersPath, readKept } from './remote-entry.js'
import { nameOfEntry } from './server-entry.js'

/** `command`: as errors name it. */
export const namedServer = (
  word: string,
  configFile: string | undefined,
  environment: Environment,
  command: string,
): URL => {
  if (word.includes('://')) return parseServerUrl(word)
  const remotes = remotesFolderOf(environment, homeOf(environment))
  const found = new Set(filesFor(configFile, environment).flatMap((file) => urlsOf(file, word, remotes)))
  const [url, another] = found
  if (url === undefined)
    throw usage(`no remote server "${visible(word)}" is in a file of a client`, command, `${command} https://…`)
  if (another !== undefined)
    throw usage(
      `several servers are called "${visible(word)}"`,
      command,
      `name one: ${[...found].map((each) => `${command} ${visibleWord(each)}`).join(', or ')}`,
    )
  return parseServerUrl(url)
}

const filesFor = (configFile: string | undefined, environment: Environment): readonly ClientFile[] =>
  configFile === undefined
    ? clientFiles({ home: homeOf(environment), workspace: process.cwd(), environment })
    : [{ client: 'file', scope: 'user', path: resolve(configFile), format: 'json', places: [['mcpServers']] }]

/** `remotes`: where `cordon mcp install` moves addresses to. */
const urlsOf = (file: ClientFile, name: string, remotes: string): readonly string[] =>
  (readConfig(file)?.entries ?? [])
    .filter((entry) => nameOfEntry(entry) === name)
    .map((entry) =>
      isMapping(entry.value)
        ? (urlOfEntry(entry.value) ?? keptUrl(entry.value['args'], movedHeadersPath(remotes, entry)))
        : undefined,
    )
    .filter((url) => typeof url === 'string')

const keptUrl = (args: unknown, path: string): string | undefined => {
  const kept = isTexts(args) ? readKept(args, path) : undefined
  return kept === undefined || kept === 'lost' ? undefined : kept.url
}
