// Which registered tools a runner serves: those that it has exactly as they were registered, and can hold.
import type { EgressClass } from '../../policy/index.js'
import type { RunnableTool } from '../../store/index.js'

import { lackOf } from '../ledger/index.js'
import type { HostAbilities } from '../ledger/index.js'
import { classProblem } from '../tool-identity/egress-class.js'

import type { RunnerTool } from './tool-files.js'

/** A tool of this host, and the class that its own policy has. */
export type KnownTool = RunnerTool & { readonly egressClass: EgressClass }

export interface Serving {
  readonly tasks: readonly string[]
  /** Registered here by name, and why calls of it are left to others. */
  readonly refused: readonly { readonly tool: string; readonly because: string }[]
}

export const chooseServing = (known: readonly KnownTool[], registered: readonly RunnableTool[], abilities: HostAbilities): Serving => {
  const byName = new Map(known.map((tool) => [tool.definition.name, tool]))
  const judged = registered.flatMap((tool) => {
    const own = byName.get(tool.key)
    return own === undefined ? [] : [{ tool, because: problemOf(tool, own, abilities) }]
  })
  return {
    tasks: judged.filter(({ because }) => because === undefined).map(({ tool }) => tool.task).sort(),
    refused: judged.flatMap(({ tool, because }) => (because === undefined ? [] : [{ tool: `${tool.owner}/${tool.key}`, because }])),
  }
}

const problemOf = (registered: RunnableTool, own: KnownTool, abilities: HostAbilities): string | undefined => {
  const { version, egressClass, definition } = registered
  const hash = definition['hash']
  if (typeof hash !== 'string') return `version ${String(version)} was registered without a hash; here it is ${own.hash}`
  if (hash !== own.hash) return `version ${String(version)} is another tool (${hash}) than the one in ${own.file} (${own.hash})`
  return classProblem(egressClass, own.egressClass) ?? lackOf(registered, abilities)
}
