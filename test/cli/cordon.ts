// Runs the command line as people do: the built program, as a process of its own.
import { spawn, spawnSync } from 'node:child_process'
import type { ChildProcess, SpawnSyncOptionsWithBufferEncoding } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { afterAll, describe, test } from 'vitest'

import type { Form } from '../../src/sandbox/index.js'
import { needs } from '../requirement.js'
import { ENDS_WHAT_HANGS_MS } from '../hanging.js'

import { OWN_FOLDERS } from './own-folders.js'

export const CORDON = fileURLToPath(new URL('../../bin/cordon.js', import.meta.url))

/** What the caller of a test has in its environment; nothing of the person who runs the tests. */
const ENVIRONMENT = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: tmpdir(), LANG: 'C.UTF-8', ...OWN_FOLDERS }

export interface Ran {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface RunOptions {
  readonly input?: string | Uint8Array
  readonly cwd?: string
  readonly environment?: Readonly<Record<string, string>>
  readonly stdio?: SpawnSyncOptionsWithBufferEncoding['stdio']
}

export const cordon = (words: readonly string[], { input, cwd, environment, stdio }: RunOptions = {}): Ran => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [CORDON, ...words], {
    timeout: ENDS_WHAT_HANGS_MS,
    maxBuffer: 256 * 1024 * 1024,
    env: { ...ENVIRONMENT, ...environment },
    ...(input === undefined ? {} : { input }),
    // Not the checkout: that a working directory is not granted would be remarked upon.
    cwd: cwd ?? '/',
    ...(stdio === undefined ? {} : { stdio }),
  })
  // Null where the stream was not a pipe of ours.
  const text = (bytes: Buffer | null): string => bytes?.toString('utf8') ?? ''
  return { status, stdout: text(stdout), stderr: text(stderr) }
}

const DISPATCH_LINES = fileURLToPath(new URL('dispatch-lines.mjs', import.meta.url))

/**
 * The same for lines that are refused or only say something, all by one process: it takes longer to start than to
 * refuse. They are carried out when the first of them is asked for; returns what one of them did.
 */
export const inOneProcess = (
  lines: readonly (readonly string[])[],
  { cwd, environment }: RunOptions = {},
): ((words: readonly string[]) => Ran) => {
  const carryOut = (): ReadonlyMap<string, Ran> => {
    const mark = `\u0000${randomUUID()}\n`
    const { output, stderr } = spawnSync(process.execPath, [DISPATCH_LINES, JSON.stringify({ mark, lines })], {
      timeout: ENDS_WHAT_HANGS_MS,
      env: { ...ENVIRONMENT, ...environment },
      cwd: cwd ?? '/',
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
      encoding: 'utf8',
    })
    const [stdouts = [], stderrs = []] = [output[1], output[2]].map((text) => text?.split(mark) ?? [])
    if (output[3] === null || output[3] === '' || output[3] === undefined)
      throw new Error(`the process ended early: ${stderr}`)
    const statuses = JSON.parse(output[3]) as readonly number[]
    return new Map(
      lines.map((words, index) => [
        JSON.stringify(words),
        { status: statuses[index] ?? null, stdout: stdouts[index] ?? '', stderr: stderrs[index] ?? '' },
      ]),
    )
  }
  let ran: ReadonlyMap<string, Ran> | undefined
  return (words) => {
    ran ??= carryOut()
    const one = ran.get(JSON.stringify(words))
    if (one === undefined) throw new Error(`not among the lines: ${JSON.stringify(words)}`)
    return one
  }
}

/** The same, while servers of this process answer. */
export const cordonBeside = (words: readonly string[], { cwd, environment, input }: RunOptions = {}): Promise<Ran> =>
  new Promise((resolve) => {
    const child = spawn(process.execPath, [CORDON, ...words], {
      timeout: ENDS_WHAT_HANGS_MS,
      cwd: cwd ?? '/',
      env: { ...ENVIRONMENT, ...environment },
    })
    const texts = { stdout: '', stderr: '' }
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].setEncoding('utf8').on('data', (text: string) => {
        texts[name] += text
      })
    }
    child.stdin.on('error', () => undefined)
    child.stdin.end(input ?? '')
    child.on('close', (status) => {
      resolve({ status, ...texts })
    })
  })

/** The same, still running, with pipes for all streams. */
export const startCordon = (words: readonly string[]): ChildProcess =>
  spawn(process.execPath, [CORDON, ...words], { env: ENVIRONMENT, timeout: ENDS_WHAT_HANGS_MS })

/** A folder that is gone after the tests of the file; not in /tmp, because a cell has one of its own. */
export const temporaryFolder = (): string => {
  const folder = realpathSync(mkdtempSync('/var/tmp/cordon-cli-'))
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true })
  })
  return folder
}

interface FormReport {
  readonly forms: Readonly<Record<Form, { readonly held: boolean; readonly problem: string | null }>>
}

const FORMS: readonly Form[] = ['namespaces', 'landlock']

/** What `cordon doctor` says of this host; the first file of tests that asks keeps it for the others. */
const formsOfHost = (): FormReport['forms'] => {
  const kept = join(process.env['CORDON_TESTS_FOLDER'] ?? '', 'doctor.json')
  if (!existsSync(kept)) {
    writeFileSync(`${kept}.${String(process.pid)}`, cordon(['doctor', '--json']).stdout)
    renameSync(`${kept}.${String(process.pid)}`, kept)
  }
  return (JSON.parse(readFileSync(kept, 'utf8')) as FormReport).forms
}

/** One `describe` per form of the cell, with the words that choose it; where the host lacks one, its tests say so. */
export const describeForms = (
  title: string,
  body: (run: (words: readonly string[], options?: RunOptions) => Ran, form: Form) => void,
): void => {
  const forms = formsOfHost()
  describe.each(FORMS)(`${title} (%s)`, (form) => {
    const { held, problem } = forms[form]
    if (held) body((words, options) => cordon(['run', '--form', form, ...words], options), form)
    else
      test('the host holds this form of the cell', (context) => {
        needs(context, false, `${form}: ${problem ?? ''}`)
      })
  })
}
