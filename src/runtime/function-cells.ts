import { dirname } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

import { fail } from '../errors/index.js'
import type { AbsolutePath, Boundary } from '../policy/index.js'
import { literalPattern } from '../policy/index.js'
import { describeEnding } from '../sandbox/index.js'
import type { CallResult, Pool, Sandbox } from '../sandbox/index.js'
import { takeSnapshot } from '../gate/index.js'

import { judgeEnding, violated } from './execute.js'
import { encodeMessage } from './function-cell/messages.js'
import type { FunctionOrigin, ThrownError } from './function-cell/messages.js'
import { listenToFunction } from './function-reply.js'
import type { FunctionReply } from './function-reply.js'
import { selfContainedSource } from './function-source.js'
import { moduleFiles } from './module-files.js'
import type { RegisteredTool } from './registered-tool.js'
import { refusedAccess } from './refused-access.js'
import type { FunctionCall } from './run-in-process.js'
import type { Execution } from './tool-result.js'
import type { ToolDefinition } from './tools.js'

/** Runs function tools, each call in a Node process of its own in a cell of its own. */
export interface FunctionCells {
  readonly run: (tool: RegisteredTool, definition: FunctionDefinition, call: FunctionCall) => Promise<Execution>
}

type FunctionDefinition = Extract<ToolDefinition, { kind: 'function' }>

// The built file, also when this one is run from its source.
const RUNNER = fileURLToPath(new URL('../../dist/runtime/function-cell/runner.js', import.meta.url))
const NODE = process.execPath
const ARGV = [NODE, RUNNER]

/** A tool whose next Node process stands ready. */
interface Prepared {
  readonly pool: Pool
  /** What is still to be said before the call. */
  readonly first: Uint8Array
}

export const createFunctionCells = (sandbox: () => Promise<Sandbox>, hostEnvironment: Readonly<Record<string, string>>): FunctionCells => {
  const prepared = new Map<string, Prepared>()

  const prepare = async ({ gate, cwd }: RegisteredTool, { name, from }: FunctionDefinition): Promise<Prepared> => {
    const ready = await sandbox()
    const known = prepared.get(name)
    if (known !== undefined) return known
    const { origin, boundary } = originOf(name, from, gate.boundary)
    const load = encodeMessage({ kind: 'load', from: origin })
    // Loading runs code of the tool. Before its call is permitted it may do that only where it can do no more than compute.
    const early = canOnlyCompute(boundary)
    const made: Prepared = {
      pool: ready.warm({ boundary, cwd, hostEnvironment, program: NODE, early: { argv: ARGV, stdin: early ? load : new Uint8Array() } }),
      first: early ? new Uint8Array() : load,
    }
    prepared.set(name, made)
    return made
  }

  return {
    run: async (tool, definition, { input, signal, onProgress }) => {
      const { pool, first } = await prepare(tool, definition)
      const reply = listenToFunction((value) => {
        const taken = takeSnapshot(value)
        if (taken.kind === 'json') onProgress(taken.value)
      })
      const result = await pool.run({
        argv: ARGV,
        stdin: Buffer.concat([first, encodeMessage({ kind: 'call', input })]),
        onStdout: reply.take,
        ...(signal === undefined ? {} : { signal }),
      })
      return describeFunction(tool, result, reply.end())
    },
  }
}

const canOnlyCompute = ({ write, network }: Boundary): boolean => network.kind === 'none' && write.every(({ negated }) => negated)

const originOf = (tool: string, from: FunctionDefinition['from'], boundary: Boundary): { readonly origin: FunctionOrigin; readonly boundary: Boundary } => {
  const own = [dirname(RUNNER)]
  if (from.kind === 'function') return { origin: { kind: 'source', source: selfContainedSource(tool, from.run) }, boundary: alsoReading(boundary, own) }
  const { path, read } = moduleFiles(tool, typeof from.path === 'string' ? from.path : fileURLToPath(from.path))
  return { origin: { kind: 'module', url: pathToFileURL(path).href, name: from.name }, boundary: alsoReading(boundary, [...own, ...read]) }
}

const alsoReading = (boundary: Boundary, paths: readonly string[]): Boundary => ({
  ...boundary,
  read: [...boundary.read, ...paths.map((path) => literalPattern(path as AbsolutePath))],
})

const describeFunction = (tool: RegisteredTool, result: CallResult, reply: FunctionReply): Execution => {
  const { name } = tool.gate
  const refused = reply.kind === 'thrown' ? refusedAccess(tool.gate.boundary, reply.error) : undefined
  const violations = refused === undefined ? result.violations : [...result.violations, refused]
  const common = { profile: result.profile, violations, usage: result.usage, printed: reply.printed }
  if (refused !== undefined) return { ...common, status: 'violated', output: undefined, error: violated(name, violations) }
  if (reply.kind === 'value') {
    const taken = takeSnapshot(reply.value)
    if (taken.kind === 'problem') return { ...common, status: 'failed', output: undefined, error: fail('tool-garbled', { tool: name, problem: `its result ${taken.problem}` }) }
    const judged = judgeEnding(name, result, result.status !== 'limit', '')
    return { ...common, ...judged, output: judged.status === 'ok' ? taken.value : undefined }
  }
  if (result.status !== 'limit' && result.violations.length === 0) {
    const error = reply.kind === 'thrown' ? fail('tool-failed', { tool: name, problem: wordsOf(reply.error) }) : fail('tool-garbled', { tool: name, problem: reply.problem ?? describeEnding(result) })
    return { ...common, status: 'failed', output: undefined, error }
  }
  return { ...common, ...judgeEnding(name, result, false, ''), output: undefined }
}

const wordsOf = ({ name, message }: ThrownError): string => (name === 'Error' || message.startsWith(name) ? message : `${name}: ${message}`)
