// Decides which policy a tool of a server gets: the one that the user wrote, or the one that the server proposes, if
// the user accepts proposals and this one stays within their bound. Without a word of the user a tool gets none.
import type { CordonError } from 'cordon/errors'
import { describeWitness, isWithin, resolvePolicy } from 'cordon/policy'
import type { Boundary, Places, PolicyInput, ToolPolicy } from 'cordon/policy'
import { isMapping, monotonicMs } from 'cordon/shapes'
import type { JsonValue } from 'cordon/gate'

import { fail } from '../errors/errors.js'
import { proposalOf } from '../server/index.js'
import type { Proposal } from '../server/index.js'
import { withTimeout } from './tool-policies.js'
import type { ToolEntry } from './tool-policies.js'

export interface ProposingServer {
  readonly name: string
  /** Of its cell. */
  readonly policy: ToolPolicy
  /** The longest that a call of its tools may take, in milliseconds. */
  readonly timeout: number | undefined
  readonly places: Places
}

/** Without a policy: why, if the server proposes one. */
export type GrantedPolicy =
  { readonly policy: ToolPolicy } | { readonly policy: undefined; readonly trouble: CordonError | undefined }

/** `name`: as the server calls its tool. `said`: what the user wrote of it. */
export type JudgeProposal = (
  tool: { readonly name: string; readonly proposal: Proposal },
  said: ToolEntry['policy'] | undefined,
) => GrantedPolicy

/** While proposals are compared, nobody else is served. This is the time for all proposals of a server. */
const MOST_COMPARING_MS = 5_000

export const createProposalJudge = ({
  name: server,
  policy: cell,
  timeout,
  places,
}: ProposingServer): JudgeProposal => {
  let spentMs = 0
  const problemOf = (proposed: ToolPolicy, bound: ToolPolicy): string | undefined => {
    if (spentMs > MOST_COMPARING_MS) return 'it is not compared, because others took too long to compare'
    const began = monotonicMs()
    const found = isWithin(proposed, bound, { ...places, kind: 'mcp' })
    // Patterns that cannot be compared would take as long again.
    spentMs += !found.within && found.witness.kind === 'undecided' ? Infinity : monotonicMs() - began
    return found.within ? undefined : `it ${describeWitness(found.witness)}`
  }
  const accept = (tool: string, proposed: ToolPolicy, within: ToolPolicy | 'server'): GrantedPolicy => {
    // The limits of the cell hold for the life of the server, and not for a call.
    const bound = withTimeout(within === 'server' ? { ...cell, limits: {} } : within, timeout)
    const limited = limitedBy(proposed, bound)
    const problem = problemOf(limited, bound)
    return problem === undefined
      ? { policy: ratedAs(limited, resolvePolicy(bound, { ...places, kind: 'mcp' })) }
      : none(fail('mcp-proposal-beyond', { server, tool, problem }))
  }
  return ({ name: tool, proposal }, said) => {
    if (said === 'server') return { policy: cell }
    if (said !== undefined && !('proposedWithin' in said)) return { policy: said }
    switch (proposal.kind) {
      case 'none':
        return none(undefined)
      case 'unreadable':
        return none(fail('mcp-proposal-unreadable', { server, tool, problem: proposal.error.message }))
      case 'policy':
        return said === undefined
          ? none(waiting(server, tool, proposal.input))
          : accept(tool, proposal.policy, said.proposedWithin)
    }
  }
}

const none = (trouble: CordonError | undefined): GrantedPolicy => ({ policy: undefined, trouble })

/** Limits and required mechanisms of the bound hold for every proposal. */
const limitedBy = (proposed: ToolPolicy, bound: ToolPolicy): ToolPolicy => ({
  ...proposed,
  limits: { ...bound.limits, ...proposed.limits },
  require: [...new Set([...bound.require, ...proposed.require])],
})

/** A server cannot call its tool harmless: what needs an approval within the bound needs one for every proposal. */
const ratedAs = (policy: ToolPolicy, { risk, egressClass }: Boundary): ToolPolicy => ({
  ...policy,
  risk: { kind: 'declared', level: risk.level },
  egressClass: { kind: 'declared', level: egressClass.level },
})

const waiting = (server: string, tool: string, input: PolicyInput): CordonError =>
  fail('mcp-proposal-waiting', {
    server,
    tool,
    proposal: JSON.stringify(input),
    line: acceptingLine(server, tool, input),
  })

/** The line of mcp.yaml that accepts exactly this. JSON is YAML. */
const acceptingLine = (server: string, tool: string, input: PolicyInput): string =>
  `servers: ${JSON.stringify({ [server]: { tools: { [tool]: { proposed: { within: input } } } } })}`

/** In settings a name is a pattern, so only a plain name is put into a line. */
const PLAIN = /^[\w.:/-]+$/

/** The same line, for an offer as the server sent it. Undefined if it proposes nothing that can be read. */
export const acceptingLineOf = (server: string, offered: JsonValue): string | undefined => {
  if (!isMapping(offered) || typeof offered['name'] !== 'string' || !PLAIN.test(offered['name'])) return undefined
  const { name, annotations } = offered
  const proposal = proposalOf({ name, annotations })
  return proposal.kind === 'policy' ? acceptingLine(server, name, proposal.input) : undefined
}
