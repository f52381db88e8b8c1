// The tools of all servers, as the gate knows them: each with the policy that somebody wrote for it, or with none.
import { setImmediate } from 'node:timers/promises'

import { CordonError } from 'cordon/errors'
import type { JsonSchema } from 'cordon/gate'
import type { ToolPolicy } from 'cordon/policy'
import type { Cordon, ToolDefinition } from 'cordon'
import { mcpTool } from 'cordon/runtime'
import type { ToolServer } from 'cordon/runtime'
import { isMapping } from 'cordon/shapes'

import { fail } from '../errors/errors.js'
import { proposalOf } from '../server/index.js'
import type { Proposal } from '../server/index.js'
import { plainSchema } from './plain-schema.js'
import type { ServedTool } from './call-tool.js'
import type { ToolCell } from './instances.js'
import type { ServerLink } from './server-link.js'

export interface ServedTools {
  /** `isWhole`: tools of this server that are not in the list are gone. */
  readonly learn: (link: ServerLink, listed: readonly unknown[], isWhole: boolean) => Promise<void>
  /** By the name that clients use. */
  readonly find: (name: string) => Promise<ServedTool | undefined>
}

export interface ToolNaming {
  readonly nameOf: (link: ServerLink, ownName: string) => string
  readonly policyOf: (name: string, link: ServerLink, proposal: Proposal) => ToolRights
  readonly serverOf: (link: ServerLink, ownName: string, cell: ToolCell) => ToolServer
}

/** `policy` is undefined if nobody wrote or accepted one. `policyFix`: what would give it one. */
export interface ToolRights {
  readonly policy: ToolPolicy | undefined
  /** What a manifest compares in place of it. Undefined: the policy itself. */
  readonly reviewed: ToolPolicy | undefined
  readonly policyFix: string | undefined
  readonly cell: ToolCell
}

export type ToolRegister = Pick<Cordon, 'addTool' | 'removeTool'>

const MOST_TOOLS = 1_000

interface Known extends ServedTool {
  /** The declaration that the gate has. */
  readonly text: string
}

export const createServedTools = (cordon: ToolRegister, { nameOf, policyOf, serverOf }: ToolNaming): ServedTools => {
  const known = new Map<string, Known>()
  let last: Promise<void> = Promise.resolve()

  const remove = async (name: string): Promise<void> => {
    const before = known.get(name)
    known.delete(name)
    if (before !== undefined && before.problem === undefined) await cordon.removeTool(name)
  }
  const definitionOf = (link: ServerLink, { name: ownName, description, schema, proposal }: Listed): ToolDefinition => {
    const name = nameOf(link, ownName)
    const { cell, ...rights } = policyOf(name, link, proposal)
    const { cwd } = link.source
    const server = serverOf(link, ownName, cell)
    return mcpTool({ name, ownName, description, input: schema, ...rights, cwd, server })
  }
  /**
   * All at once, because each change opens the gate anew. One by one if there is something wrong with one of them: the
   * problem of a tool that the gate does not take is kept.
   */
  const add = async (link: ServerLink, tools: readonly Listed[]): Promise<void> => {
    if (tools.length === 0) return
    let problem: CordonError | undefined
    try {
      await cordon.addTool(...tools.map((tool) => definitionOf(link, tool)))
    } catch (error) {
      if (!(error instanceof CordonError)) throw error
      if (tools.length > 1) {
        for (const tool of tools) await add(link, [tool])
        return
      }
      problem = error
    }
    for (const { name: ownName, text } of tools) known.set(nameOf(link, ownName), { link, ownName, text, problem })
  }
  const learn = async (link: ServerLink, listed: readonly unknown[], isWhole: boolean): Promise<void> => {
    const tools = new Map(listed.flatMap(readListed).map((tool) => [tool.name, tool]))
    const others = [...known.values()].filter((each) => each.link === link && !tools.has(each.ownName))
    if (tools.size + (isWhole ? 0 : others.length) > MOST_TOOLS)
      throw fail('mcp-tools-too-many', { server: link.name, most: MOST_TOOLS })
    if (isWhole) for (const { ownName } of others) await remove(nameOf(link, ownName))
    const changed: Listed[] = []
    for (const tool of tools.values()) {
      const name = nameOf(link, tool.name)
      const before = known.get(name)
      // A server cannot take over the tool of another one.
      if (before !== undefined && (before.link !== link || before.text === tool.text)) continue
      await remove(name)
      changed.push(tool)
    }
    await add(link, changed)
  }
  return {
    learn: (link, listed, isWhole) => {
      // The client has its answer first. A call waits for this.
      const learned = last.then(() => setImmediate()).then(() => learn(link, listed, isWhole))
      last = learned.catch(() => undefined)
      return learned
    },
    find: async (name) => {
      await last
      return known.get(name)
    },
  }
}

interface Listed {
  readonly name: string
  readonly description: string
  readonly schema: JsonSchema
  readonly proposal: Proposal
  /** By which a change is recognised. */
  readonly text: string
}

const readListed = (tool: unknown): readonly Listed[] => {
  if (!isMapping(tool) || typeof tool['name'] !== 'string') return []
  const { name, description, inputSchema, annotations } = tool
  const schema = plainSchema(inputSchema)
  const told = typeof description === 'string' ? description : ''
  const proposal = proposalOf({ name, annotations })
  return [{ name, description: told, schema, proposal, text: JSON.stringify([told, schema, annotations]) }]
}
