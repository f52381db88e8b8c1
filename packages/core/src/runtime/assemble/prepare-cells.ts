import type { JsonValue } from '../../gate/index.js'
import { openContainers, openSandbox, requireLauncher } from '../../sandbox/index.js'
import type { Containers, Sandbox } from '../../sandbox/index.js'
import { withoutUndefined } from '../../shapes/index.js'

import type { ToolRunner } from '../call/call-services.js'
import type { CordonOptions } from '../cordon-options.js'
import {
  createCallNetworks,
  openNetwork,
  pinsOf,
  refusePassing,
  refuseSlips,
  secretHostOf,
  withoutSecrets,
} from '../network/index.js'
import { createFunctionCells } from '../run/function-cells.js'
import { createProcessCells } from '../run/process-cells.js'
import { createToolRunner } from '../run/tool-runner.js'
import { createUnconfinedRunner } from '../run/unconfined-runner.js'
import { needsCell } from '../tools/bound-tool.js'
import type { BoundTool } from '../tools/bound-tool.js'
import type { BoundTools } from './bind-tools.js'

export interface Cells {
  readonly runner: ToolRunner<BoundTool>
  /** For `runUnconfined` only. */
  readonly unconfined: ToolRunner<BoundTool>
  /** Refuses tools that have no launcher, would get a credential, or whose hosts the settings misspell. */
  readonly check: (tools: readonly BoundTool[]) => void
  /** Opens the sandbox, and makes a cell ready for the tool. */
  readonly prewarm: (tool: BoundTool | undefined, input: unknown) => Promise<void>
  /** Closes the cells that are ready for these tools. */
  readonly forget: (tools: readonly BoundTool[]) => void
  /** Ends the calls that run. */
  readonly closeSandbox: () => Promise<void>
  readonly closeNetworks: () => void
}

/** The first call that needs a cell opens the sandbox, the first that may reach a host opens the proxy. */
export const prepareCells = (
  { egress = {}, environment: given = {}, sandbox: settings, containers: engine = {}, registry }: CordonOptions,
  sources: BoundTools['sources'],
): Cells => {
  let opening: Promise<Sandbox> | undefined
  let openingEngine: Promise<Containers> | undefined
  let isNested = false
  const sandbox = () =>
    (opening ??= openSandbox(settings).then((opened) => {
      isNested = opened.host.nesting.held
      return opened
    }))
  const containers = () => {
    const opened = (openingEngine ??= openContainers(engine, given))
    // An engine may be started later.
    opened.catch(() => (openingEngine = undefined))
    return opened
  }
  const secrets = { sources, host: secretHostOf(given, egress.vault, egress.stored) }
  const networks = createCallNetworks(
    () => openNetwork({ authorities: egress.authorities ?? [], isNested: () => isNested, secrets }),
    pinsOf(egress.pins ?? {}),
  )
  // No policy can pass on a variable that holds the value of a credential.
  const environment = withoutUndefined(withoutSecrets(given, sources.values()))
  const processes = createProcessCells(sandbox, containers, environment, networks)
  const functions = createFunctionCells(sandbox, environment, networks)
  const unconfined = createUnconfinedRunner(environment)
  return {
    runner: createToolRunner(processes.run, functions.run),
    unconfined,
    check: (tools) => {
      if (registry?.execution !== 'runners' && tools.some(needsCell)) requireLauncher(settings)
      refuseSlips(
        egress,
        tools.map(({ gate: { boundary } }) => boundary),
      )
      for (const { gate } of tools) refusePassing(gate.name, gate.boundary, sources, given)
    },
    prewarm: async (tool, input) => {
      if (tool?.definition.kind !== 'process' || tool.definition.container === undefined) await sandbox()
      if (tool?.definition.kind === 'function') await functions.prewarm(tool, tool.definition)
      if (tool?.definition.kind === 'process' && input !== undefined)
        await processes.prewarm(tool, tool.definition, tool.definition.command(input as JsonValue)[0])
    },
    forget: (tools) => {
      for (const tool of tools) {
        processes.forget(tool)
        functions.forget(tool)
      }
    },
    closeSandbox: async () => {
      unconfined.close()
      for (const each of [opening, openingEngine]) await (await each?.catch(() => undefined))?.close()
    },
    closeNetworks: networks.close,
  }
}
