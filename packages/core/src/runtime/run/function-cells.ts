import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'

import { PACKAGE_FOLDER } from '../../platform/index.js'
import { literalPattern } from '../../policy/index.js'
import type { AbsolutePath, Boundary, PathPattern } from '../../policy/index.js'
import type { CallResult, RunInput, Sandbox } from '../../sandbox/index.js'
import { withoutUndefined } from '../../shapes/index.js'

import type { PermittedCall } from '../call/call-services.js'
import { encodeMessage } from '../function-cell/messages.js'
import type { FunctionOrigin } from '../function-cell/messages.js'
import type { CallNetworks } from '../network/call-networks.js'
import { shieldOwnFiles } from '../own-files/index.js'
import { resultLimitsOf } from '../result/result-limits.js'
import type { Execution } from '../result/tool-result.js'
import type { BoundTool } from '../tools/bound-tool.js'
import { pathOf, selfContainedSource } from '../tools/function-source.js'
import { moduleFiles, packageSettings } from '../tools/module-files.js'
import type { FunctionSource, ToolOfKind } from '../tools/tools.js'
import { describeFunction } from './describe-function.js'
import { listenToFunction } from './function-reply.js'

/** Runs a function tool, each call in a Node process of its own in a cell of its own. */
export type RunFunction = (
  tool: BoundTool,
  definition: ToolOfKind<'function'>,
  call: PermittedCall,
) => Promise<Execution>

// The built file, also when this one is run from its source.
const RUNNER = join(PACKAGE_FOLDER, 'dist', 'bundle', 'function-cell', 'runner.js')
const NODE = process.execPath
/** The command of every function tool. The call is sent to its stdin. */
export const FUNCTION_COMMAND = [NODE, RUNNER] as const

/** A tool whose next cell is ready. */
interface Prepared {
  readonly run: (input: RunInput) => Promise<CallResult>
  /** Sent before the call. */
  readonly first: Uint8Array
  readonly ready: () => Promise<void>
  readonly close: () => void
}

const NOTHING_READY = { ready: () => Promise.resolve(), close: () => undefined }

interface FunctionCells {
  readonly run: RunFunction
  readonly prewarm: (tool: BoundTool, definition: ToolOfKind<'function'>) => Promise<void>
  readonly forget: (tool: BoundTool) => void
}

export const createFunctionCells = (
  sandbox: () => Promise<Sandbox>,
  hostEnvironment: Readonly<Record<string, string>>,
  networks: CallNetworks,
): FunctionCells => {
  const prepared = new Map<BoundTool, Prepared>()

  const prepare = async (tool: BoundTool, { name, from }: ToolOfKind<'function'>): Promise<Prepared> => {
    const { gate, cwd, observe, isWidened } = tool
    const ready = await sandbox()
    const known = prepared.get(tool)
    if (known !== undefined) return known
    const { origin, boundary: unshielded } = originOf(name, from, gate.boundary)
    const boundary = shieldOwnFiles(unshielded, tool.ownFiles, cwd)
    const load = encodeMessage({ kind: 'load', from: origin })
    const settings = { boundary, cwd, hostEnvironment, observe, ...networks.settingsFor(boundary) }
    // A widened policy is for one call only.
    if (isWidened) return { run: (input) => ready.run({ ...settings, ...input }), first: load, ...NOTHING_READY }
    // With granted hosts the variables differ for each call, so the process cannot start early. Loading runs code of
    // the tool: before its call is permitted only if the tool can do no more than compute.
    const startsEarly = boundary.network.kind !== 'hosts'
    // A module may change on disk until its call. Nothing of a WASI module runs before.
    const loadsEarly = startsEarly && (from.kind === 'wasm' || (from.kind === 'function' && canOnlyCompute(boundary)))
    const early = { argv: FUNCTION_COMMAND, stdin: loadsEarly ? load : new Uint8Array() }
    const pool = ready.warm({ ...settings, program: NODE, ...(startsEarly ? { early } : {}) })
    const made: Prepared = { ...pool, first: loadsEarly ? new Uint8Array() : load }
    prepared.set(tool, made)
    return made
  }

  const run: RunFunction = async (tool, definition, call) => {
    const { input, callId, session, signal, beforeStart, network } = call
    const sent = definition.from.kind === 'wasm' ? definition.from.words(input) : input
    const { run: runCell, first } = await prepare(tool, definition)
    const reply = listenToFunction(resultLimitsOf(definition.result), call)
    let said = 0
    const result = await networks.during(tool.gate.boundary, network, (granted) =>
      runCell({
        argv: FUNCTION_COMMAND,
        beforeStart,
        stdin: Buffer.concat([first, encodeMessage({ kind: 'call', input: sent, callId, session })]),
        onStdout: (bytes) => {
          said += bytes.byteLength
          reply.take(bytes)
        },
        ...withoutUndefined({ signal }),
        ...granted,
      }),
    )
    return describeFunction(tool, definition, { result, reply: await reply.end(), input, said })
  }
  const forget = (tool: BoundTool): void => {
    prepared.get(tool)?.close()
    prepared.delete(tool)
  }
  const prewarm = async (tool: BoundTool, definition: ToolOfKind<'function'>): Promise<void> => {
    const { ready } = await prepare(tool, definition)
    await ready()
  }
  return { run, prewarm, forget }
}

const canOnlyCompute = ({ write, network }: Boundary): boolean =>
  network.kind === 'none' && write.every(({ negated }) => negated)

const originOf = (
  tool: string,
  from: FunctionSource,
  boundary: Boundary,
): { readonly origin: FunctionOrigin; readonly boundary: Boundary } => {
  const alsoReading = (paths: readonly string[]): Boundary => ({
    ...boundary,
    read: [...boundary.read, ...paths.map((path) => literalPattern(path as AbsolutePath))],
  })
  // Node reads package.json to see whether the runner is a module.
  const own = [dirname(RUNNER), ...packageSettings(RUNNER)]
  if (from.kind === 'function')
    return { origin: { kind: 'source', source: selfContainedSource(tool, from.run) }, boundary: alsoReading(own) }
  if (from.kind === 'wasm') {
    const grants = [...boundary.read, ...boundary.write].filter(({ negated }) => !negated).map(({ base }) => base)
    const bytes = Buffer.from(from.bytes).toString('base64')
    return { origin: { kind: 'wasm', bytes, grants }, boundary: alsoReading(own) }
  }
  const { path, read, links } = moduleFiles(tool, pathOf(from.path))
  const readable = alsoReading([...own, ...read])
  return {
    origin: { kind: 'module', url: pathToFileURL(path).href, name: from.name },
    boundary: { ...readable, read: [...readable.read, ...links.map(shownLink)] },
  }
}

/** A pattern that matches exactly the link: the cell shows it, and grants nothing by it. */
const shownLink = (path: string): PathPattern => ({
  ...literalPattern(path as AbsolutePath),
  kind: 'pattern',
  base: dirname(path) as AbsolutePath,
})
