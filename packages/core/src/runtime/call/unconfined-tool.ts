// A process tool as `runUnconfined` runs it: the same tool, whose calls no cell confines.
import { fail } from '../../errors/index.js'
import type { CordonError } from '../../errors/index.js'
import { hashOf } from '../../gate/index.js'
import type { Widening } from '../../gate/index.js'

import type { BoundTool } from '../tools/bound-tool.js'

/**
 * Judged as a tool of the agent's own process: nothing counts as held by a sandbox. It has another hash, so that no
 * approval or permit of the confined tool is one for this.
 */
export const unconfinedTool = (tool: BoundTool): BoundTool => {
  const { gate } = tool
  return {
    ...tool,
    gate: {
      ...gate,
      runs: 'in-process',
      isReadOnly: false,
      policyHash: hashOf({ unconfined: gate.policyHash }),
    },
  }
}

export const UNCONFINED: Widening = {
  after: 'unconfined',
  reason: 'runUnconfined starts it as a plain process, without a sandbox',
  added: ['everything that the user of this process may do'],
}

/** Refuses a tool that would not be what it is without a cell, or without the proxy. */
export const refuseUnconfinable = ({ definition, gate }: BoundTool, hasRegistry: boolean): void => {
  const { name } = definition
  const refused = (problem: string, fix: string): CordonError =>
    fail('unconfined-refused', { tool: name, problem, fix })
  const useCall = 'use call'
  if (hasRegistry) throw refused('people of a registry approve calls in a sandbox', useCall)
  if (definition.kind !== 'process') throw refused('it is not a processTool', useCall)
  if (definition.container !== undefined) throw refused('its program is in a container image', useCall)
  const [credential] = gate.boundary.credentials
  if (credential !== undefined)
    throw refused(
      `its policy has the credential "${credential.id}", which only the proxy of a sandbox puts in`,
      'use call, or declare a tool without credentials',
    )
  const [required] = gate.boundary.require
  if (required !== undefined)
    throw refused(`its policy requires ${required}`, 'use call, or declare a tool without "require"')
}
