// Runs the command line as people do: the built program in its own process.
import { spawn, spawnSync } from 'node:child_process'
import type { ChildProcess, SpawnSyncOptionsWithBufferEncoding } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { afterAll, describe, test } from 'vitest'

import type { Form } from '../../src/sandbox/index.js'
import { needs } from '../../../../test/requirement.js'
import { ENDS_WHAT_HANGS_MS } from '../../../../test/hanging.js'

import { IS_MATRIX } from '../../../../test/turns.js'
import { OWN_FOLDERS } from './own-folders.js'
import { shareProcess } from './shared-process.js'
import type { Line } from './shared-process.js'

export const CORDON = fileURLToPath(new URL('../../bin/cordon.js', import.meta.url))

/** The native program: every run goes through the local host where it can. */
const FRONT = fileURLToPath(new URL('../../build/cordon', import.meta.url))
const IS_FRONTED = process.env['CORDON_TEST_FRONT'] === '1'

/** What the caller of a test has in its environment; nothing of the person who runs the tests. */
const ENVIRONMENT = {
  CORDON_HOST: IS_FRONTED ? '10m' : 'off',
  PATH: '/usr/local/bin:/usr/bin:/bin',
  HOME: tmpdir(),
  LANG: 'C.UTF-8',
  ...OWN_FOLDERS,
}

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

/** Starts of the store take half the time where V8 optimizes only what runs often. */
export const NODE_OPTIONS = ['--wasm-tiering-budget=400000000']

/** The words before those of a command. */
export const STARTED: readonly string[] = IS_FRONTED ? [FRONT] : [process.execPath, CORDON]

/** The local host takes no words about the form. */
export const formWords = (form: Form): readonly string[] => (IS_FRONTED ? [] : ['--form', form])

const programWords = (words: readonly string[]): readonly [string, readonly string[]] =>
  IS_FRONTED ? [FRONT, words] : [process.execPath, [...NODE_OPTIONS, CORDON, ...words]]

export const cordonProcess = (words: readonly string[], { input, cwd, environment, stdio }: RunOptions = {}): Ran => {
  const [program, given] = programWords(words)
  const { status, stdout, stderr } = spawnSync(program, given, {
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

const shared = shareProcess(NODE_OPTIONS)

/** Commands that may share a process: they read no signals, and run no checks of the host. */
const SHARING = new Set(['run', 'hook', 'manifest', 'policy', 'log', 'why', 'approvals', 'team'])
const SHARING_OF_MCP = new Set(['install', 'uninstall', 'list', 'diff', 'trust', 'update'])
/** The others pass their input on to a program, by its descriptor. */
const READING = new Set(['hook'])
/** Variables that count only when a process starts. */
const AT_START = /^(?:NODE_|LD_|TZ$)/
const seen = new Set<string>()

/**
 * The first line of each command and form has its own process, so that a file tries both. In the matrix, the first line
 * of each subcommand has one too.
 */
const isShared = (
  [name = '', second = '', third = '']: readonly string[],
  { input, environment = {}, stdio }: RunOptions,
): boolean => {
  if (IS_FRONTED || process.env['CORDON_TEST_PROCESSES'] === 'own') return false
  if (!SHARING.has(name) && !(name === 'mcp' && SHARING_OF_MCP.has(second))) return false
  if (stdio !== undefined) return false
  if (input !== undefined && !READING.has(name)) return false
  if (Object.keys(environment).some((variable) => AT_START.test(variable))) return false
  const command = second === '--form' ? third : IS_MATRIX && /^[a-z]+$/.test(second) ? `${name} ${second}` : name
  const isFirst = !seen.has(command)
  seen.add(command)
  return !isFirst
}

const lineOf = (words: readonly string[], { cwd, environment, input }: RunOptions): Line => ({
  words,
  cwd: cwd ?? '/',
  environment: { ...ENVIRONMENT, ...environment },
  input: input === undefined ? undefined : Buffer.from(input).toString('base64'),
})

/** As `cordonProcess`, but most lines of a file share one process. */
export const cordon = (words: readonly string[], options: RunOptions = {}): Ran =>
  isShared(words, options) ? shared.run(lineOf(words, options)) : cordonProcess(words, options)

/** Runs a line that needs no process of its own, because it is refused or only prints something. */
export const cordonLine = (words: readonly string[], options: RunOptions = {}): Ran =>
  shared.run(lineOf(words, options))

/** As `cordon`, while servers of this process answer. */
export const cordonBeside = (words: readonly string[], options: RunOptions = {}): Promise<Ran> =>
  isShared(words, options) ? shared.runBeside(lineOf(words, options)) : cordonProcessBeside(words, options)

const cordonProcessBeside = (words: readonly string[], { cwd, environment, input }: RunOptions): Promise<Ran> =>
  new Promise((resolve) => {
    const [program, given] = programWords(words)
    const child = spawn(program, given, {
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
  spawn(...programWords(words), { env: ENVIRONMENT, timeout: ENDS_WHAT_HANGS_MS })

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

const FORMS: readonly Form[] = IS_FRONTED ? ['namespaces'] : ['namespaces', 'landlock']

/** What `cordon doctor` says of this host; the first file of tests that asks keeps it for the others. */
const formsOfHost = (): FormReport['forms'] => {
  const kept = join(process.env['CORDON_TESTS_FOLDER'] ?? '', 'doctor.json')
  if (!existsSync(kept)) {
    writeFileSync(`${kept}.${String(process.pid)}`, cordonProcess(['doctor', '--json']).stdout)
    renameSync(`${kept}.${String(process.pid)}`, kept)
  }
  return (JSON.parse(readFileSync(kept, 'utf8')) as FormReport).forms
}

type FormTests = (run: typeof cordon, form: Form) => void

const describeBy =
  (how: typeof cordon) =>
  (title: string, body: FormTests): void => {
    const forms = formsOfHost()
    describe.each(FORMS)(`${title} (%s)`, (form) => {
      const { held, problem } = forms[form]
      if (held) body((words, options) => how(['run', ...formWords(form), ...words], options), form)
      else
        test('the host supports this form of the cell', (context) => {
          needs(context, false, `${form}: ${problem ?? ''}`)
        })
    })
  }

/** One `describe` per form of the cell, with the words that choose it; where the host lacks one, its tests say so. */
export const describeForms = describeBy(cordon)

/** The same, with a process for each line. */
export const describeFormsByProcess = describeBy(cordonProcess)
