import { openSandbox } from '../../sandbox/index.js'
import type { Sandbox } from '../../sandbox/index.js'

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
import type { BoundTool } from '../tools/bound-tool.js'
import type { BoundTools } from './bind-tools.js'

export interface Cells {
  readonly runner: ToolRunner<BoundTool>
  /** Ends the calls that run. */
  readonly closeSandbox: () => Promise<void>
  readonly closeNetworks: () => void
}

/** The sandbox is opened by the first call that needs a cell, and the proxy by the first that may reach a host. */
export const prepareCells = (
  { egress = {}, environment: given = {}, sandbox: settings }: CordonOptions,
  { list, sources }: BoundTools,
): Cells => {
  refuseSlips(
    egress,
    list.map(({ gate: { boundary } }) => boundary),
  )
  for (const {
    gate: { name, boundary },
  } of list)
    refusePassing(name, boundary, sources, given)
  let opening: Promise<Sandbox> | undefined
  let isNested = false
  const sandbox = () =>
    (opening ??= openSandbox(settings).then((opened) => {
      isNested = opened.host.nesting.held
      return opened
    }))
  const secrets = { sources, host: secretHostOf(given, egress.vault, egress.stored) }
  const networks = createCallNetworks(
    () => openNetwork({ authorities: egress.authorities ?? [], isNested: () => isNested, secrets }),
    pinsOf(egress.pins ?? {}),
  )
  // A variable that holds the value of a credential is nothing that a policy could pass on.
  const environment = definedOf(withoutSecrets(given, sources.values()))
  return {
    runner: createToolRunner({
      processes: createProcessCells(sandbox, environment, networks),
      functions: createFunctionCells(sandbox, environment, networks),
    }),
    closeSandbox: async () => {
      await (await opening?.catch(() => undefined))?.close()
    },
    closeNetworks: networks.close,
  }
}

const definedOf = (environment: NonNullable<CordonOptions['environment']>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(environment).filter((entry): entry is [string, string] => entry[1] !== undefined))
