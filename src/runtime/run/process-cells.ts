import { StringDecoder } from 'node:string_decoder'

import type { JsonValue } from '../../gate/index.js'
import type { CallResult, CellSettings, Pool, Sandbox } from '../../sandbox/index.js'

import type { CallNetworks, NetworkCall } from '../network/call-networks.js'
import type { BoundTool } from '../tools/bound-tool.js'
import type { ToolOutput } from '../result/tool-result.js'
import type { ToolDefinition } from '../tools/tools.js'

/** Runs process tools, and keeps the next cell of each ready once it is known which program that is. */
export interface ProcessCells {
  readonly run: (tool: BoundTool, definition: ProcessDefinition, call: ProcessCall) => Promise<CallResult>
}

export interface ProcessCall {
  readonly argv: readonly string[]
  readonly input: JsonValue
  readonly signal: AbortSignal | undefined
  readonly onOutput: ((chunk: ToolOutput) => void) | undefined
  readonly beforeStart: () => Promise<void>
  readonly network: NetworkCall
}

type ProcessDefinition = Extract<ToolDefinition, { kind: 'process' }>

export const createProcessCells = (
  sandbox: () => Promise<Sandbox>,
  hostEnvironment: Readonly<Record<string, string>>,
  networks: CallNetworks,
): ProcessCells => {
  const pools = new Map<string, { readonly program: string; readonly pool: Pool }>()

  /**
   * The first call learns the program, the next ones find its cells ready. A tool that runs another each time gets
   * none.
   */
  const poolFor = (ready: Sandbox, { gate }: BoundTool, program: string, settings: CellSettings): Pool | undefined => {
    const known = pools.get(gate.name)
    if (known?.program === program) return known.pool
    known?.pool.close()
    pools.set(gate.name, { program, pool: ready.warm({ ...settings, program }) })
    return undefined
  }

  return {
    run: async (tool, definition, { argv, input, signal, onOutput, beforeStart, network }) => {
      const ready = await sandbox()
      const { boundary } = tool.gate
      const settings = {
        boundary,
        cwd: tool.cwd,
        hostEnvironment,
        observe: tool.observe,
        ...networks.settingsFor(boundary),
      }
      const listening = onOutput === undefined ? undefined : listenTo(onOutput)
      const call = {
        argv,
        beforeStart,
        ...(definition.stdin === undefined ? {} : { stdin: definition.stdin(input) }),
        ...(signal === undefined ? {} : { signal }),
        ...listening?.input,
      }
      const pool = argv[0] === undefined || tool.isWidened ? undefined : poolFor(ready, tool, argv[0], settings)
      const result = await networks.during(boundary, network, (granted) =>
        pool === undefined ? ready.run({ ...settings, ...call, ...granted }) : pool.run({ ...call, ...granted }),
      )
      return { ...result, ...listening?.heard() }
    },
  }
}

/** Tells what is written while it is written, and keeps it: who listens would have it to himself otherwise. */
const listenTo = (onOutput: (chunk: ToolOutput) => void) => {
  const ear = (stream: ToolOutput['stream']) => {
    // A character may come in two pieces.
    const decoder = new StringDecoder('utf8')
    const kept: Uint8Array[] = []
    const take = (bytes: Uint8Array): void => {
      kept.push(bytes)
      const text = decoder.write(Buffer.from(bytes))
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
