// The gateway in front of a server of both eras, on pipes or on a free port.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'

import { onTestFinished } from 'vitest'

import { CORDON, GATEWAY_ENVIRONMENT, STARTABLE, folderWith } from './gateway.js'

const SERVER = fileURLToPath(new URL('both-eras-server.mjs', import.meta.url))

export const wordsFor = (era: string, words: readonly string[]): readonly string[] => [
  ...[CORDON, 'mcp', ...STARTABLE, '--tools', 'tools.yaml', '--allow', 'elicitation', ...words],
  ...['--', 'node', SERVER, era],
]

export const workspace = (rules = ''): string =>
  folderWith({ 'tools.yaml': '"*": server\n', ...(rules === '' ? {} : { 'rules.yaml': rules }) })

/** A gateway that listens on a free port. */
export const listening = (
  era: string,
  words: readonly string[] = ['--token', 'none'],
  cwd = workspace(),
): Promise<string> => addressOf(wordsFor(era, ['--listen', '127.0.0.1:0', ...words]), cwd)

/** Starts a script of Node that says its address on stderr. It runs until the test ends. */
export const addressOf = async (words: readonly string[], cwd = workspace()): Promise<string> => {
  const script = spawn(process.execPath, words, {
    env: GATEWAY_ENVIRONMENT,
    cwd,
    stdio: ['ignore', 'inherit', 'pipe'],
  })
  onTestFinished(() => ended(script))
  return new Promise((resolve, reject) => {
    let said = ''
    script.stderr.on('data', (bytes: Buffer) => {
      said += bytes.toString()
      const [url] = /http:\S+(?=\n)/.exec(said) ?? []
      if (url !== undefined) resolve(url)
    })
    script.on('exit', () => {
      reject(new Error(said))
    })
  })
}

const ended = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    if (child.exitCode !== null) resolve()
    child.on('exit', () => {
      resolve()
    })
    child.kill('SIGTERM')
  })
