// What one tool or MCP server is to data: whether it reads private data, returns content of others, or sends.
import { coversEndpoint, reachableBesides, readableBesides } from 'cordon/policy'
import type { Endpoint, FileFound, PathGlob, ToolPolicy } from 'cordon/policy'

import type { Part } from './part.js'
import type { Tags } from './tags.js'

/** Why a part has a role: one example. */
export type Reason =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'variable'; readonly name: string }
  | { readonly kind: 'credential'; readonly id: string }
  | { readonly kind: 'host'; readonly host: string; readonly port: number }
  /** It runs in the agent's own process, so its policy confines nothing. */
  | { readonly kind: 'unconfined' }
  /** Its patterns are too entangled for an exact answer. */
  | { readonly kind: 'undecided' }

const UNCONFINED: Reason = { kind: 'unconfined' }

/** It reads files that are not public, gets a variable of the host, or reads with a credential. */
export const privateBecause = (part: Part, tags: Tags): Reason | undefined => {
  if (part.kind === 'in-process') return UNCONFINED
  const { environment, credentials } = part.policy
  const [credential] = credentials
  if (credential !== undefined) return { kind: 'credential', id: credential.id }
  const variable =
    environment.kind === 'list' ? environment.items.find(({ value }) => value.kind === 'pass') : undefined
  return variable === undefined ? fileBesides(part.policy, tags.public) : { kind: 'variable', name: variable.name }
}

/** It returns content of hosts or files that are not trusted. */
export const untrustedBecause = (part: Part, { trusted }: Tags): Reason | undefined =>
  part.kind === 'in-process'
    ? UNCONFINED
    : (hostBesides(part, trusted.hosts) ?? fileBesides(part.policy, trusted.files))

/** It reaches a host that is not the project's own. Every connection counts, also one for GET. */
export const sendsBecause = (part: Part, { own }: Tags): Reason | undefined =>
  part.kind === 'in-process' ? UNCONFINED : hostBesides(part, own)

const fileBesides = (policy: ToolPolicy, known: readonly PathGlob[]): Reason | undefined => {
  const found = readableBesides(policy, known)
  return found === undefined ? undefined : reasonOfFile(found)
}

export const reasonOfFile = (found: FileFound): Reason =>
  found.kind === 'path' ? { kind: 'file', path: found.path } : { kind: 'undecided' }

const hostBesides = ({ policy, remote }: Part, known: readonly Endpoint[]): Reason | undefined => {
  if (remote !== undefined && !known.some((each) => coversEndpoint(each, remote.host, remote.port)))
    return { kind: 'host', host: remote.text.replace(/:\d+$/, ''), port: remote.port }
  const reached = reachableBesides(policy, known)
  return reached === undefined ? undefined : { kind: 'host', ...reached }
}
