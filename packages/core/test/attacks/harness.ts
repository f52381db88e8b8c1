// Everything in this suite that touches the sandbox: how to open a cell, its input, and its output.
import { afterAll, describe, expect, test } from 'vitest'

import { CordonError } from '../../src/errors/index.js'
import { parseAbsolutePath, parsePolicy, resolvePolicy } from '../../src/policy/index.js'
import { openSandbox } from '../../src/sandbox/index.js'
import type { BackendName, CallResult, Form, Sandbox } from '../../src/sandbox/index.js'
import { exitCodeOf } from '../../../../test/ending.js'
import { needs } from '../../../../test/requirement.js'
import { IN_MATRIX, inTurn } from '../../../../test/turns.js'

import { expectRefused, parseRoutes } from './outcomes.js'
import type { Exceptions, Route } from './outcomes.js'
import { preparePrograms } from './programs.js'
import type { Programs } from './programs.js'

export type { Form } from '../../src/sandbox/index.js'

/** As a policy file would say it; `filesystem.read` is completed with the folder of the attack programs. */
export interface PolicyText {
  readonly filesystem?: { readonly read?: readonly string[]; readonly write?: readonly string[] }
  readonly network?: 'none' | 'all' | readonly (string | { readonly host: string; readonly action: 'deny' })[]
  readonly environment?: readonly string[]
  readonly exec?: 'none' | 'all' | readonly string[]
  readonly limits?: Readonly<Record<string, string | number>>
  readonly presets?: readonly string[]
}

export interface CallOptions {
  readonly policy?: PolicyText
  /** What relative globs are relative to, and `~` means. */
  readonly workspace?: string
  readonly home?: string
  readonly cwd?: string
  readonly stdin?: string
  readonly hostEnvironment?: Readonly<Record<string, string>>
  readonly onStdout?: (text: string) => void
  readonly signal?: AbortSignal
}

/** How a call went: it ran, or Cordon refused it before anything ran. */
export type Call =
  | {
      readonly kind: 'ran'
      readonly result: CallResult
      readonly stdout: string
      readonly stderr: string
      readonly routes: readonly Route[]
    }
  | { readonly kind: 'refused'; readonly error: CordonError }

export type RanCall = Extract<Call, { kind: 'ran' }>

/** Calls in cells of one form. */
export interface Calls {
  /** Runs a command; the first word is a program of the host, or one of this suite's by `attackCommand`. */
  readonly call: (argv: readonly string[], options?: CallOptions) => Promise<Call>
  /** The same for an attack program, by its name. */
  readonly attack: (program: string, args: readonly string[], options?: CallOptions) => Promise<Call>
  /** The same, where a refusal of the whole call would be a mistake. */
  readonly run: (argv: readonly string[], options?: CallOptions) => Promise<RanCall>
}

export interface Cell extends Calls {
  readonly form: Form
  readonly backend: BackendName
  readonly sandbox: Sandbox
}

export const FORMS: readonly Form[] = ['namespaces', 'landlock']

export const programs: Programs = preparePrograms()

const sandbox: Sandbox = await openSandbox()
afterAll(() => sandbox.close())

export const boundaryOf = (policy: PolicyText, workspace: string, home: string): ReturnType<typeof resolvePolicy> =>
  resolvePolicy(parsePolicy(withPrograms(policy), 'attack'), {
    workspace: parseAbsolutePath(workspace, 'workspace'),
    home: parseAbsolutePath(home, 'home'),
    kind: 'process',
  })

const withPrograms = (policy: PolicyText): unknown => ({
  ...policy,
  filesystem: { ...policy.filesystem, read: [...(policy.filesystem?.read ?? []), programs.folder] },
})

export const cellIn = (sandbox: Sandbox, form: Form, backend: BackendName): Cell => ({
  ...callsIn(sandbox.run, form),
  form,
  backend,
  sandbox,
})

export const callsIn = (runRequest: Sandbox['run'], form: Form): Calls => {
  const call = async (argv: readonly string[], options: CallOptions = {}): Promise<Call> => {
    const workspace = options.workspace ?? programs.folder
    const decoder = new TextDecoder('latin1')
    let streamed = ''
    try {
      const result = await runRequest({
        boundary: boundaryOf(options.policy ?? {}, workspace, options.home ?? workspace),
        form,
        cwd: options.cwd ?? workspace,
        argv,
        ...(options.stdin === undefined ? {} : { stdin: options.stdin }),
        ...(options.hostEnvironment === undefined ? {} : { hostEnvironment: options.hostEnvironment }),
        ...(options.signal === undefined ? {} : { signal: options.signal }),
        ...(options.onStdout === undefined
          ? {}
          : {
              onStdout: (bytes: Uint8Array) => {
                const text = decoder.decode(bytes)
                streamed += text
                options.onStdout?.(text)
              },
            }),
      })
      expect(result.profile.form, 'the form that was really applied').toBe(form)
      const stdout = streamed + Buffer.from(result.stdout).toString('latin1')
      return {
        kind: 'ran',
        result,
        stdout,
        stderr: Buffer.from(result.stderr).toString('latin1'),
        routes: parseRoutes(stdout),
      }
    } catch (error) {
      if (error instanceof CordonError) return { kind: 'refused', error }
      throw error
    }
  }
  return {
    call,
    attack: (program, args, options) => call([...programs.command(program), ...args], options),
    run: async (argv, options) => mustRun(await call(argv, options)),
  }
}

export const mustRun = (call: Call): RanCall => {
  if (call.kind === 'refused') throw new Error(`the call was refused: ${call.error.code}: ${call.error.message}`)
  return call
}

/** The attack ran to its end, every route was refused, and nothing secret came out. */
export const expectHeld = (call: Call, except: Exceptions = {}): void => {
  const { result, routes, stdout, stderr } = mustRun(call)
  expect({ status: result.status, exitCode: exitCodeOf(result), stderr }).toEqual({
    status: 'exited',
    exitCode: 0,
    stderr: '',
  })
  expectRefused(routes, except)
  expect(stdout, 'a secret in the output').not.toContain('SECRET')
}

/** The same, or Cordon refused the whole call because this form cannot hold that boundary. */
export const expectHeldOrRefused = (call: Call, except: Exceptions = {}): void => {
  if (call.kind === 'refused') expect(call.error.code).toMatch(/^[a-z][a-z-]+$/)
  else expectHeld(call, except)
}

/**
 * One `describe` per form of the cell. Those out of turn are left to the matrix. Where the host cannot hold a form, its
 * tests say so.
 */
const describeIn =
  (forms: readonly Form[]) =>
  (title: string, body: (cell: Cell) => void): void => {
    for (const form of forms)
      describe(`${title} (${form})`, inTurn(title, { form, backend: 'native' }), () => {
        const attempt = sandbox.host[form]
        if (attempt.held) body(cellIn(sandbox, form, 'native'))
        else
          test('the host supports this form of the cell', (context) => {
            needs(context, false, `${form}: ${attempt.stage}: ${attempt.problem}`)
          })
      })
  }

export const describeForms = describeIn(FORMS)
/** The form for hosts without Landlock, which has the parts of the first one but Landlock. */
export const describeMounts = describeIn(['mounts'])

export const IS_ROOT = process.getuid?.() === 0

/** For a test that takes long: `npm test` tries it in the two native forms, as root. The matrix tries the rest. */
export const inMainCells = ({ backend, form }: Pick<Cell, 'backend' | 'form'>): Partial<typeof IN_MATRIX> =>
  IS_ROOT && backend === 'native' && form !== 'mounts' ? {} : IN_MATRIX

/** How often a race is run: as often as it takes to win where nothing refuses it, and far more often in the matrix. */
export const raceRounds = (
  most: number,
): readonly (readonly [rounds: string, options: Partial<typeof IN_MATRIX>])[] => [
  ['1500', {}],
  [String(most), IN_MATRIX],
]
