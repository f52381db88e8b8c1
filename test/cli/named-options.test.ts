// Pages, helps and examples name only options that the named command understands.
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { renderHelp } from '../../packages/core/src/line/help.js'

import { GENERATE_HELP } from '../../packages/manifest/src/commands/generate-help.js'
import { INSPECT_HELP } from '../../packages/manifest/src/commands/inspect-help.js'
import { SUGGEST_HELP } from '../../packages/manifest/src/commands/suggest-help.js'
import { VERIFY_HELP } from '../../packages/manifest/src/commands/verify-help.js'
import { MCP_LOGIN_ACTIONS, MCP_LOGIN_HELP } from '../../packages/mcp/src/commands/mcp-login-help.js'
import { MCP_SETUP_ACTIONS, MCP_SETUP_HELP } from '../../packages/mcp/src/commands/mcp-setup-help.js'

import { HELPS } from './helps.js'

const ROOT = join(import.meta.dirname, '..', '..')
const pages = [
  ...['README.md', 'SECURITY.md', 'ARCHITECTURE.md', 'CHANGELOG.md'],
  ...['docs', 'docs/decisions', 'deploy'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => `${folder}/${name}`),
  ),
]

const MCP_SETUP = new RegExp(`^ (?:${MCP_SETUP_ACTIONS.join('|')})\\b`)
const MCP_LOGIN = new RegExp(`^ (?:${MCP_LOGIN_ACTIONS.join('|')})\\b`)
const MANIFEST_ACTIONS = { generate: GENERATE_HELP, verify: VERIFY_HELP, inspect: INSPECT_HELP, suggest: SUGGEST_HELP }
const KNOWN: typeof HELPS = {
  ...HELPS,
  'mcp-setup': MCP_SETUP_HELP,
  'mcp-login': MCP_LOGIN_HELP,
  ...Object.fromEntries(Object.entries(MANIFEST_ACTIONS).map(([action, help]) => [`manifest ${action}`, help])),
}

interface Named {
  readonly command: string
  readonly option: string
}

/**
 * From "cordon COMMAND" to the end of the line, of the quotation, or of the words of the command (a pipe, `--`, a
 * comment).
 */
const namedIn = (text: string): readonly Named[] =>
  Array.from(text.matchAll(/\bcordon (?<command>[a-z]+)(?<words>[^\n`|;&#]*)/g)).flatMap(({ groups }) => {
    const { command: name = '', words = '' } = groups ?? {}
    const ofMcp = MCP_SETUP.test(words) ? 'mcp-setup' : MCP_LOGIN.test(words) ? 'mcp-login' : 'mcp'
    const ofManifest = `manifest${/^ [a-z]+/.exec(words)?.[0] ?? ''}`
    const command = name === 'mcp' ? ofMcp : name === 'manifest' ? ofManifest : name
    if (!Object.hasOwn(KNOWN, command)) return []
    const own = words.split(/ -- |, or | and cordon /)[0] ?? ''
    return Array.from(own.matchAll(/(?<=[ [(])--(?<option>[a-z][a-z-]*)/g), ({ groups: found }) => ({
      command,
      option: found?.['option'] ?? '',
    }))
  })

const isKnown = ({ command, option }: Named): boolean =>
  option === 'help' ||
  KNOWN[command]?.groups.some(({ options }) => options.some(({ name }) => name === option)) === true

test.each(pages)('%s names only existing options', (page) => {
  expect(namedIn(readFileSync(join(ROOT, page), 'utf8')).filter((each) => !isKnown(each))).toEqual([])
})

test.each(Object.entries(HELPS))('the help of cordon %s names only existing options of other commands', (_, help) => {
  expect(namedIn(renderHelp(help)).filter((each) => !isKnown(each))).toEqual([])
})

test('an unknown option is found, also in a pipeline', () => {
  expect(
    namedIn('`cordon runner --tools DIR --no-such-thing | cordon team tools register - --nor-this`').filter(
      (each) => !isKnown(each),
    ),
  ).toEqual([
    { command: 'runner', option: 'no-such-thing' },
    { command: 'tools', option: 'nor-this' },
  ])
})
