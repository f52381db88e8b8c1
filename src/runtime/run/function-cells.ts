import { dirname } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

import { IMPORT_ADVICE, fail } from '../../errors/index.js'
import type { CordonError } from '../../errors/index.js'
import type { AbsolutePath, Boundary } from '../../policy/index.js'
import { literalPattern } from '../../policy/index.js'
import { describeEnding } from '../../sandbox/index.js'
import type { CallResult, RunInput, Sandbox, Violation } from '../../sandbox/index.js'
import type { JsonValue } from '../../gate/index.js'

import { fixOfFailure, policyAdvice } from '../hints/index.js'
import { textsIn, toolFailed } from '../result/agent-words.js'
import { judgeEnding } from '../result/judge-ending.js'
import { encodeMessage } from '../function-cell/messages.js'
import type { FunctionOrigin, ThrownError } from '../function-cell/messages.js'
import { listenToFunction } from './function-reply.js'
import type { FunctionReply } from './function-reply.js'
import { pathOf, selfContainedSource } from '../tools/function-source.js'
import { moduleFiles, packageSettings } from '../tools/module-files.js'
import type { CallNetworks, NetworkCall } from '../network/call-networks.js'
import { processEndingOf } from '../events/process-ending.js'
import type { ProcessEnding } from '../events/process-ending.js'
import type { BoundTool } from '../tools/bound-tool.js'
import { resultLimitsOf } from '../result/result-limits.js'
import type { FunctionCall } from './run-in-process.js'
import type { Execution } from '../result/tool-result.js'
import type { ToolDefinition } from '../tools/tools.js'

/** Runs function tools, each call in a Node process of its own in a cell of its own. */
export interface FunctionCells {
  readonly run: (
    tool: BoundTool,
    definition: FunctionDefinition,
    call: FunctionCall & { readonly beforeStart: () => Promise<void> },
    network: NetworkCall,
  ) => Promise<Execution>
}

type FunctionDefinition = Extract<ToolDefinition, { kind: 'function' }>

// The built file, also when this one is run from its source.
const RUNNER = fileURLToPath(new URL('../../../dist/runtime/function-cell/runner.js', import.meta.url))
const NODE = process.execPath
/** The words of the process in which a function runs. Nothing of a call travels in them. */
export const FUNCTION_COMMAND = [NODE, RUNNER] as const

/** A tool whose next Node process stands ready. */
interface Prepared {
  readonly run: (input: RunInput) => Promise<CallResult>
  /** What is still to be said before the call. */
  readonly first: Uint8Array
}

export const createFunctionCells = (
  sandbox: () => Promise<Sandbox>,
  hostEnvironment: Readonly<Record<string, string>>,
  networks: CallNetworks,
): FunctionCells => {
  const prepared = new Map<string, Prepared>()

  const prepare = async (
    { gate, cwd, observe, isWidened }: BoundTool,
    { name, from }: FunctionDefinition,
  ): Promise<Prepared> => {
    const ready = await sandbox()
    const known = isWidened ? undefined : prepared.get(name)
    if (known !== undefined) return known
    const { origin, boundary } = originOf(name, from, gate.boundary)
    const load = encodeMessage({ kind: 'load', from: origin })
    const settings = { boundary, cwd, hostEnvironment, observe, ...networks.settingsFor(boundary) }
    // A policy that is for one call has no next call to be ready for.
    if (isWidened) return { run: (input) => ready.run({ ...settings, ...input }), first: load }
    // The variables of a network are those of one call, and a process that runs has the ones that it began with.
    if (boundary.network.kind === 'hosts') {
      const waiting: Prepared = { run: ready.warm({ ...settings, program: NODE }).run, first: load }
      prepared.set(name, waiting)
      return waiting
    }
    // Loading runs code of the tool. Before its call is permitted it may do that only where it can do no more than
    // compute.
    const early = canOnlyCompute(boundary)
    const made: Prepared = {
      run: ready.warm({
        ...settings,
        program: NODE,
        early: { argv: FUNCTION_COMMAND, stdin: early ? load : new Uint8Array() },
      }).run,
      first: early ? new Uint8Array() : load,
    }
    prepared.set(name, made)
    return made
  }

  return {
    run: async (tool, definition, { input, signal, onProgress, beforeStart }, call) => {
      const { run, first } = await prepare(tool, definition)
      const reply = listenToFunction(resultLimitsOf(definition.result), onProgress)
      let said = 0
      const result = await networks.during(tool.gate.boundary, call, (granted) =>
        run({
          argv: FUNCTION_COMMAND,
          beforeStart,
          stdin: Buffer.concat([first, encodeMessage({ kind: 'call', input })]),
          onStdout: (bytes) => {
            said += bytes.byteLength
            reply.take(bytes)
          },
          ...(signal === undefined ? {} : { signal }),
          ...granted,
        }),
      )
      return describeFunction(tool, definition, result, await reply.end(), input, said)
    },
  }
}

const canOnlyCompute = ({ write, network }: Boundary): boolean =>
  network.kind === 'none' && write.every(({ negated }) => negated)

const originOf = (
  tool: string,
  from: FunctionDefinition['from'],
  boundary: Boundary,
): { readonly origin: FunctionOrigin; readonly boundary: Boundary } => {
  // Node asks the settings of the package whether the runner is a module.
  const own = [dirname(RUNNER), ...packageSettings(RUNNER)]
  if (from.kind === 'function')
    return {
      origin: { kind: 'source', source: selfContainedSource(tool, from.run) },
      boundary: alsoReading(boundary, own),
    }
  const { path, read } = moduleFiles(tool, pathOf(from.path))
  return {
    origin: { kind: 'module', url: pathToFileURL(path).href, name: from.name },
    boundary: alsoReading(boundary, [...own, ...read]),
  }
}

const alsoReading = (boundary: Boundary, paths: readonly string[]): Boundary => ({
  ...boundary,
  read: [...boundary.read, ...paths.map((path) => literalPattern(path as AbsolutePath))],
})

const describeFunction = (
  tool: BoundTool,
  { name, from }: FunctionDefinition,
  result: CallResult,
  reply: FunctionReply,
  input: JsonValue,
  said: number,
): Execution => {
  const { profile, violations, usage } = result
  const advised = {
    workspace: tool.workspace,
    ownFiles: tool.ownFiles,
    words: [...(from.kind === 'function' ? [String(from.run)] : []), ...textsIn(input)],
  }
  const fix = (met: readonly Violation[]): string =>
    from.kind === 'function' && met.some(isOfPackage) ? IMPORT_ADVICE : policyAdvice(met, advised)
  const failed = (thrown: string): string =>
    from.kind === 'function' && IS_IMPORT.test(thrown)
      ? IMPORT_ADVICE
      : fixOfFailure({ ...advised, boundary: tool.gate.boundary, cwd: tool.cwd, command: [], named: textsIn(input) })
  const common = {
    profile,
    violations,
    usage,
    writtenBytes: said + result.stderr.byteLength,
    printed: reply.printed,
    ending: endingOfFunction(result, reply),
  }
  if (reply.kind !== 'value')
    return {
      ...common,
      ...judgeEnding(name, result, {
        succeeded: false,
        failure: () => failureOf(name, result, reply, input, failed),
        command: [],
        fix,
      }),
      output: undefined,
    }
  const taken = reply.value
  const garbled = () =>
    fail('tool-garbled', {
      tool: name,
      problem: taken.kind === 'problem' ? `its result ${taken.problem}` : describeEnding(result),
    })
  if (taken.kind === 'too-large')
    return {
      ...common,
      status: 'failed',
      output: undefined,
      error: fail('result-too-large', { tool: name, problem: taken.problem }),
    }
  if (taken.kind === 'problem') return { ...common, status: 'failed', output: undefined, error: garbled() }
  const judged = judgeEnding(name, result, { succeeded: result.status !== 'limit', failure: garbled, command: [], fix })
  return { ...common, ...judged, output: judged.status === 'ok' ? taken.value : undefined }
}

const failureOf = (
  tool: string,
  result: CallResult,
  reply: Exclude<FunctionReply, { kind: 'value' }>,
  input: JsonValue,
  fixOf: (problem: string) => string,
): CordonError => {
  if (reply.kind === 'nothing') return fail('tool-garbled', { tool, problem: reply.problem ?? describeEnding(result) })
  const problem = wordsOf(reply.error)
  return reply.loaded
    ? toolFailed(tool, problem, input, { fix: fixOf(problem) })
    : fail('tool-unloadable', { tool, problem })
}

/** Node's own words: what the function imports is looked for beside the runner of Cordon, and not beside the tool. */
const IS_IMPORT = /^Cannot find (?:module|package) /

const isOfPackage = (violation: Violation): boolean =>
  violation.kind === 'file' && violation.access === 'read' && violation.path.includes('/node_modules/')

/** Its process kills itself when everything is said, which is its way to exit. */
const endingOfFunction = (result: CallResult, { kind }: FunctionReply): ProcessEnding =>
  result.status === 'signaled' && result.signal === SIGKILL && kind !== 'nothing'
    ? { kind: 'completed', exitCode: kind === 'value' ? 0 : 1 }
    : processEndingOf(result, result.violations)

const SIGKILL = 9

const wordsOf = ({ name, message }: ThrownError): string =>
  name === 'Error' || message.startsWith(name) ? message : `${name}: ${message}`
