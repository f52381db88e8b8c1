// Real programs, run as a tool would run them.
import { execFile, spawnSync } from 'node:child_process'

import { ENDS_WHAT_HANGS_MS } from '../../../../test/hanging.js'

import type { Stage } from './stage.js'

export interface Ran {
  readonly status: number
  readonly output: string
  readonly errors: string
}

export const has = (program: string): boolean => spawnSync(program, ['--version']).error === undefined

export const run = (
  program: string,
  args: readonly string[],
  options: {
    readonly env?: Readonly<Record<string, string>>
    readonly input?: string | Buffer
    readonly cwd?: string
  } = {},
): Promise<Ran> =>
  new Promise((resolve) => {
    const child = execFile(
      program,
      [...args],
      {
        env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '/', ...options.env },
        encoding: 'latin1',
        maxBuffer: 1 << 28,
        timeout: ENDS_WHAT_HANGS_MS,
        ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      },
      (error, output, errors) => {
        const code = error?.code
        resolve({
          status: error === null ? 0 : typeof code === 'number' ? code : 255,
          output,
          errors: errors + (typeof code === 'string' ? code : ''),
        })
      },
    )
    child.stdin?.on('error', () => undefined)
    child.stdin?.end(options.input ?? '')
  })

/** Through CONNECT, with the authority of the runtime and no other. */
export const curl = (stage: Stage, ...args: readonly string[]): Promise<Ran> =>
  run('curl', [
    '-sS',
    '--max-time',
    '40',
    '--noproxy',
    '',
    '--proxy',
    stage.proxyUrl,
    '--cacert',
    stage.authorityFile,
    ...args,
  ])

/** As the broker makes it: the name leads to a port on which everything is meant for it. */
export const curlThere = async (stage: Stage, host: string, port: number, ...args: readonly string[]): Promise<Ran> =>
  run('curl', [
    '-sS',
    '--max-time',
    '40',
    '--noproxy',
    '*',
    '--connect-to',
    `${host}:${port}:127.0.0.1:${await stage.portTo(host, port)}`,
    '--cacert',
    stage.authorityFile,
    ...args,
  ])
