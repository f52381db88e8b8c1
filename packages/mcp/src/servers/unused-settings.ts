// Settings that no server uses, because a name differs. Nobody would notice, except that tools lack their policies.
import { nearestKey } from 'cordon/policy'
import { visible } from 'cordon/commands'

import type { AllServerSettings } from './server-settings.js'
import { entriesForNobody } from './tool-policies.js'
import type { ToolEntry } from './tool-policies.js'

interface NamedServer {
  readonly name: string
  /** What the names of its tools begin with, among several servers. */
  readonly start: string
}

/** `tools`: of `--tools`. Lines for the user. */
export const unusedSettings = (
  servers: readonly NamedServer[],
  { names, of }: AllServerSettings,
  tools: readonly ToolEntry[],
): readonly string[] => {
  const starts = servers.map(({ start }) => start)
  const forNobody = entriesForNobody(starts, tools).map(
    ({ name, source }) =>
      `${visible(source)}: "${visible(name)}" is for no server of this gateway; names of tools begin with ` +
      starts.map((start) => `"${visible(start)}"`).join(' or '),
  )
  // Who gave --tools needs no settings. The settings of other servers are for other gateways.
  const withoutSettings = names.length === 0 || tools.length > 0 ? [] : servers.filter(({ name }) => isUnset(of(name)))
  return [
    ...forNobody,
    ...withoutSettings.map(({ name }) => {
      const near = nearestKey(name, names)
      return (
        `mcp.yaml has no settings for the server "${visible(name)}", but for ${names.map(visible).join(', ')}` +
        (near === undefined ? '; --server NAME names a server' : `; did you mean "${visible(near)}"?`)
      )
    }),
  ]
}

const isUnset = ({ policies, tools, allowed, published }: ReturnType<AllServerSettings['of']>): boolean =>
  [policies, tools, allowed, published].every(({ length }) => length === 0)
