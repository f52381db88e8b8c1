// Which registered tools a runner serves: those that it has exactly as they were registered, and can hold.
import { EGRESS_CLASSES } from '../../policy/index.js'
import type { EgressClass } from '../../policy/index.js'
import type { RunnableTool } from '../../store/index.js'

import type { RunnerTool } from './tool-files.js'

export interface HostAbilities {
  readonly labels: readonly string[]
  readonly holds: readonly string[]
}

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

const problemOf = ({ version, egressClass, definition, needsLabels, needsBoundary }: RunnableTool, own: KnownTool, { labels, holds }: HostAbilities): string | undefined => {
  const hash = definition['hash']
  if (typeof hash !== 'string') return `version ${String(version)} was registered without a hash; here it is ${own.hash}`
  if (hash !== own.hash) return `version ${String(version)} is another tool (${hash}) than the one in ${own.file} (${own.hash})`
  if (EGRESS_CLASSES.indexOf(egressClass) < EGRESS_CLASSES.indexOf(own.egressClass)) return `it is registered with the class ${egressClass}, and its policy has the class ${own.egressClass}`
  const missing = [...needsLabels.filter((label) => !labels.includes(label)).map((label) => `the label ${label}`), ...needsBoundary.filter((name) => !holds.includes(name)).map((name) => `the mechanism ${name}`)]
  return missing.length === 0 ? undefined : `this host does not have ${missing.join(', ')}`
}
