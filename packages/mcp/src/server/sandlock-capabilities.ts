// The capability keys of sandlock, as a policy. A key that is unknown, or that Cordon cannot enforce in the same way,
// is refused by its name.
import {
  countOf,
  escapeGlob,
  invalid,
  itemsOf,
  mappingOf,
  namedNodesOf,
  parseIpAddress,
  rootNode,
  nodeText,
} from 'cordon/policy'
import type { LimitsInput, PolicyInput, PolicyNode } from 'cordon/policy'

export interface SandlockCapabilities {
  readonly fs_readable?: readonly string[]
  readonly fs_writable?: readonly string[]
  readonly fs_denied?: readonly string[]
  readonly net_allow_hosts?: readonly string[]
  /** Ports of the allowed hosts (default: 80 and 443). */
  readonly net_connect?: readonly number[]
  /** Must be empty: no tool listens. */
  readonly net_bind?: readonly number[]
  readonly env?: Readonly<Record<string, string>>
  readonly max_memory?: string | number
  /** At the same time, and not over the life of the call. */
  readonly max_processes?: number
  readonly max_open_files?: number
}

const KEYS = [
  ...(['fs_readable', 'fs_writable', 'fs_denied', 'net_allow_hosts', 'net_connect', 'net_bind', 'env'] as const),
  ...(['max_memory', 'max_processes', 'max_open_files'] as const),
] as const satisfies readonly (keyof SandlockCapabilities)[]

/** A policy with these sections, as they are written in a policy file. */
interface CapabilityPolicy extends PolicyInput {
  readonly filesystem: { readonly read: readonly string[]; readonly write: readonly string[] }
  readonly limits: LimitsInput
}

type Given = Readonly<Partial<Record<(typeof KEYS)[number], PolicyNode>>>

/** `source` names them in errors. Sandlock's default, a readable workspace, is not among them. */
export const policyFromCapabilities = (capabilities: unknown, source = 'the capabilities'): CapabilityPolicy => {
  const given = mappingOf(
    rootNode(capabilities, () => source, 'the capabilities of sandlock'),
    KEYS,
  )
  const read = [...pathsOf(given.fs_readable), ...pathsOf(given.fs_denied).map((path) => `!${path}`)]
  const write = pathsOf(given.fs_writable)
  const network = hostsOf(given)
  const variables = given.env === undefined ? [] : namedNodesOf(given.env)
  if (given.net_bind !== undefined && itemsOf(given.net_bind, 'an empty list').length > 0)
    throw invalid(given.net_bind, 'empty', 'leave it out: no tool may listen')
  return {
    filesystem: { read, write },
    network: network.length === 0 ? 'none' : network,
    environment: variables.map(([name, node]) => `${name}=${nodeText(node, 'the value of a variable, as a text')}`),
    limits: limitsOf(given),
  }
}

/** In sandlock a path is no pattern, and stands for everything beneath it. */
const pathsOf = (node: PolicyNode | undefined): readonly string[] =>
  node === undefined
    ? []
    : itemsOf(node, 'a list of paths').map((item) => {
        const path = nodeText(item, 'a path')
        if (!path.startsWith('/')) throw invalid(item, 'an absolute path')
        return escapeGlob(path)
      })

const hostsOf = ({ net_allow_hosts: hosts, net_connect: ports }: Given): readonly string[] => {
  const names = hosts === undefined ? [] : itemsOf(hosts, 'a list of hosts').map((item) => nodeText(item, 'a host'))
  const allowed = ports === undefined ? undefined : itemsOf(ports, 'a list of ports').map(countOf)
  if (ports !== undefined && hosts === undefined && (allowed?.length ?? 0) > 0)
    throw invalid(ports, 'used with net_allow_hosts: alone it would open every host', 'name the hosts')
  if (allowed === undefined) return names
  return names.flatMap((name) => allowed.map((port) => `${bracketed(name)}:${port}`))
}

const bracketed = (host: string): string => (parseIpAddress(host)?.family === 6 ? `[${host}]` : host)

const limitsOf = ({ max_memory: memory, max_processes: processes, max_open_files: files }: Given): LimitsInput => ({
  ...(memory === undefined ? {} : { memory: memory.value as string | number }),
  ...(processes === undefined ? {} : { processes: countOf(processes) }),
  ...(files === undefined ? {} : { openFiles: countOf(files) }),
})
