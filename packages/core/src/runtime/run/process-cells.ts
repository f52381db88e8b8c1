import { StringDecoder } from 'node:string_decoder'

import type { CallResult, CellSettings, Containers, Pool, RunInput, Sandbox } from '../../sandbox/index.js'
import { withoutUndefined } from '../../shapes/index.js'

import type { PermittedCall } from '../call/call-services.js'
import type { CallNetworks } from '../network/call-networks.js'
import type { BoundTool } from '../tools/bound-tool.js'
import type { ToolOutput } from '../result/tool-result.js'
import type { ToolOfKind } from '../tools/tools.js'

/** Runs a process tool, and keeps the next cell for its program ready. */
export type RunProcess = (
  tool: BoundTool,
  definition: ToolOfKind<'process'>,
  call: PermittedCall,
) => Promise<CallResult>

export interface ProcessCells {
  readonly run: RunProcess
  /** Makes a cell ready for this program. */
  readonly prewarm: (tool: BoundTool, definition: ToolOfKind<'process'>, program: string | undefined) => Promise<void>
  readonly forget: (tool: BoundTool) => void
}

/** What runs the calls of one tool that run the same program. */
interface Runs {
  readonly once: (call: RunInput) => Promise<CallResult>
  readonly warm: () => Pool
  /** Whether the first call waits for the pool, because a cold start takes as long. */
  readonly beginsWarm: boolean
}

/** Process tools run in cells of this host, or in containers. */
export const createProcessCells = (
  sandbox: () => Promise<Sandbox>,
  containers: () => Promise<Containers>,
  hostEnvironment: Readonly<Record<string, string>>,
  networks: CallNetworks,
): ProcessCells => {
  const pools = new Map<BoundTool, { readonly program: string; readonly pool: Pool }>()

  /** Undefined for a new program: the next call of the same program finds a cell ready. */
  const poolFor = (tool: BoundTool, program: string, { warm, beginsWarm }: Runs): Pool | undefined => {
    const known = pools.get(tool)
    if (known?.program === program) return known.pool
    known?.pool.close()
    const pool = warm()
    pools.set(tool, { program, pool })
    return beginsWarm ? pool : undefined
  }
  const runsOf = async (
    { container }: ToolOfKind<'process'>,
    settings: CellSettings,
    program: string,
  ): Promise<Runs> => {
    if (container === undefined) {
      const ready = await sandbox()
      return {
        once: (call) => ready.run({ ...settings, ...call }),
        warm: () => ready.warm({ ...settings, program }),
        beginsWarm: false,
      }
    }
    const ready = await containers()
    const inImage = { ...settings, program, ...withoutUndefined(container) }
    return { once: (call) => ready.run(inImage, call), warm: () => ready.warm(inImage), beginsWarm: true }
  }

  const settingsOf = ({ gate: { boundary }, cwd, observe }: BoundTool): CellSettings => ({
    boundary,
    cwd,
    hostEnvironment,
    ...withoutUndefined({ observe }),
    ...networks.settingsFor(boundary),
  })
  const run: RunProcess = async (
    tool,
    definition,
    { command: argv = [], input, signal, onOutput, beforeStart, network },
  ) => {
    const { boundary } = tool.gate
    const runs = await runsOf(definition, settingsOf(tool), argv[0] ?? '')
    const listening = onOutput === undefined ? undefined : listenTo(onOutput, definition.encoding)
    const call = {
      argv,
      beforeStart,
      ...withoutUndefined({ stdin: definition.stdin?.(input), signal }),
      ...listening?.input,
    }
    const pool = argv[0] === undefined || tool.isWidened ? undefined : poolFor(tool, argv[0], runs)
    const result = await networks.during(boundary, network, (granted) =>
      (pool?.run ?? runs.once)({ ...call, ...granted }),
    )
    return { ...result, ...listening?.heard() }
  }
  const forget = (tool: BoundTool): void => {
    pools.get(tool)?.pool.close()
    pools.delete(tool)
  }
  const prewarm = async (
    tool: BoundTool,
    definition: ToolOfKind<'process'>,
    program: string | undefined,
  ): Promise<void> => {
    if (program === undefined) return
    poolFor(tool, program, await runsOf(definition, settingsOf(tool), program))
    await pools.get(tool)?.pool.ready()
  }
  return { run, prewarm, forget }
}

interface HeardOutput {
  readonly input: Required<Pick<RunInput, 'onStdout' | 'onStderr'>>
  readonly heard: () => Pick<CallResult, 'stdout' | 'stderr'>
}

/** Passes on the output while it is written, and keeps it: a listener of the sandbox gets it instead of the result. */
export const listenTo = (
  onOutput: (chunk: ToolOutput) => void,
  encoding: ToolOfKind<'process'>['encoding'],
): HeardOutput => {
  const ear = (stream: ToolOutput['stream']) => {
    // A character may come in two pieces.
    const decoder = new StringDecoder('utf8')
    const kept: Uint8Array[] = []
    const take = (bytes: Uint8Array): void => {
      kept.push(bytes)
      const text = encoding === 'base64' ? Buffer.from(bytes).toString(encoding) : decoder.write(Buffer.from(bytes))
      if (text !== '') onOutput({ stream, text })
    }
    return { take, all: () => Buffer.concat(kept) }
  }
  const [stdout, stderr] = [ear('stdout'), ear('stderr')]
  return {
    input: { onStdout: stdout.take, onStderr: stderr.take },
    heard: () => ({ stdout: stdout.all(), stderr: stderr.all() }),
  }
}
