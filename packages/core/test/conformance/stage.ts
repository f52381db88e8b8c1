// The stage of a claim: its own folder, and calls through the backend.
import { mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { CordonError } from '../../src/errors/index.js'
import { parseAbsolutePath, parsePolicy, resolvePolicy } from '../../src/policy/index.js'
import type { Boundary } from '../../src/policy/index.js'
import type { CallResult, RunRequest } from '../../src/sandbox/index.js'

import type { Backend } from './backend.js'
import type { Given, PolicyText } from './claim.js'

export interface CallOptions extends Partial<Omit<RunRequest, 'boundary' | 'argv'>> {
  readonly policy?: PolicyText
}

export interface Stage {
  readonly backend: Backend
  /** One more backend of the same kind, for claims that close or damage it. */
  readonly another: () => Promise<Backend>
  /** The folder that `@/` stands for. */
  readonly root: string
  /** Replaces `@/` in a text. */
  readonly at: (text: string) => string
  readonly boundary: (policy: PolicyText) => Boundary
  /** Runs a command, or a text in /bin/sh; a refusal is thrown. */
  readonly run: (command: readonly string[] | string, options?: CallOptions) => Promise<CallResult>
  /** The error that the call is refused with; fails when it runs. */
  readonly refusal: (command: readonly string[] | string, options?: CallOptions) => Promise<CordonError>
  readonly give: (given: Given) => void
  readonly read: (path: string) => string
}

// Not /tmp: a cell has a /tmp of its own, where much is allowed that is nobody's business.
export const newFolder = (): string => mkdtempSync('/var/tmp/cnf-')

export const stageAt = (root: string, backend: Backend, another: () => Promise<Backend>): Stage => {
  const at = (text: string): string => text.replaceAll('@/', `${root}/`)
  const boundary = (policy: PolicyText): Boundary => boundaryOf(JSON.parse(at(JSON.stringify(policy))), root)
  const commandOf = (command: readonly string[] | string): readonly string[] =>
    typeof command === 'string' ? ['/bin/sh', '-c', at(command)] : command.map(at)
  const run = async (command: readonly string[] | string, options: CallOptions = {}): Promise<CallResult> => {
    const { policy, cwd, ...rest } = options
    return backend.run({ ...rest, boundary: boundary(policy ?? {}), cwd: at(cwd ?? '/'), argv: commandOf(command) })
  }
  return {
    backend,
    another,
    root,
    at,
    boundary,
    run,
    refusal: async (command, options) => {
      const result = await run(command, options).catch((error: unknown) => error)
      if (result instanceof CordonError) return result
      throw new Error('the call was not refused by Cordon', { cause: result })
    },
    give: (given) => {
      for (const [name, what] of Object.entries(given)) layOut(at(name), what, at)
    },
    read: (path) => readFileSync(at(path), 'utf8'),
  }
}

const boundaryOf = (policy: unknown, root: string): Boundary =>
  resolvePolicy(parsePolicy(policy, 'conformance'), {
    workspace: parseAbsolutePath(root),
    home: parseAbsolutePath(join(root, 'home')),
    kind: 'process',
  })

const layOut = (path: string, what: Given[string], at: (text: string) => string): void => {
  mkdirSync(path.endsWith('/') ? path : dirname(path), { recursive: true })
  if (path.endsWith('/')) return
  if (typeof what === 'string') writeFileSync(path, what)
  else if ('link' in what) symlinkSync(at(what.link), path)
  else writeFileSync(path, at(what.program), { mode: 0o755 })
}

export const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('utf8')
