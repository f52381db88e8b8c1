// The tools of all servers, as the gate knows them: each with the policy that somebody wrote for it, or with none.
import { CordonError, fail } from '../errors/index.js'
import type { JsonSchema } from '../gate/index.js'
import type { ToolPolicy } from '../policy/index.js'
import type { Cordon } from '../runtime/index.js'
import { mcpTool } from '../runtime/tools/index.js'
import type { ToolServer } from '../runtime/tools/index.js'
import { isMapping } from '../shapes/index.js'

import { serverOfTools } from './call-tool.js'
import type { ServedTool } from './call-tool.js'
import type { ServerLink } from './server-link.js'

export interface ServedTools {
  /** `isWhole`: tools of this server that are not in the list are gone. */
  readonly learn: (link: ServerLink, listed: readonly unknown[], isWhole: boolean) => Promise<void>
  /** By the name that clients use. */
  readonly find: (name: string) => Promise<ServedTool | undefined>
}

export interface ToolNaming {
  readonly nameOf: (link: ServerLink, ownName: string) => string
  /** Undefined: nobody wrote one. */
  readonly policyOf: (name: string, link: ServerLink) => ToolPolicy | undefined
}

export type ToolRegister = Pick<Cordon, 'addTool' | 'removeTool'>

/** Each change of the tools opens the gate anew. */
const MOST_TOOLS = 1_000

interface Known extends ServedTool {
  /** The declaration that the gate has. */
  readonly text: string
}

export const createServedTools = (cordon: ToolRegister, { nameOf, policyOf }: ToolNaming): ServedTools => {
  const known = new Map<string, Known>()
  const servers = new Map<ServerLink, ToolServer>()
  let last: Promise<void> = Promise.resolve()

  const serverOf = (link: ServerLink): ToolServer => {
    const found = servers.get(link) ?? serverOfTools(link)
    servers.set(link, found)
    return found
  }
  const remove = async (name: string): Promise<void> => {
    const before = known.get(name)
    known.delete(name)
    if (before !== undefined && before.problem === undefined) await cordon.removeTool(name)
  }
  const add = async (link: ServerLink, { name: ownName, description, schema, text }: Listed): Promise<void> => {
    const name = nameOf(link, ownName)
    const before = known.get(name)
    if (before?.text === text && before.link === link) return
    await remove(name)
    let problem: CordonError | undefined
    try {
      const policy = policyOf(name, link)
      const { cwd } = link.source
      await cordon.addTool(mcpTool({ name, description, input: schema, policy, cwd, server: serverOf(link) }))
    } catch (error) {
      if (!(error instanceof CordonError)) throw error
      problem = error
    }
    known.set(name, { link, ownName, text, problem })
  }
  const learn = async (link: ServerLink, listed: readonly unknown[], isWhole: boolean): Promise<void> => {
    const tools = listed.flatMap(readListed)
    const names = new Set(tools.map(({ name }) => name))
    const others = [...known.values()].filter((each) => each.link === link && !names.has(each.ownName))
    if (names.size + (isWhole ? 0 : others.length) > MOST_TOOLS)
      throw fail('mcp-tools-too-many', { server: link.name, most: MOST_TOOLS })
    if (isWhole) for (const { ownName } of others) await remove(nameOf(link, ownName))
    for (const tool of tools) await add(link, tool)
  }
  return {
    learn: (link, listed, isWhole) => {
      // The client has its answer first. A call waits for this.
      const learned = last.then(nextTurn).then(() => learn(link, listed, isWhole))
      last = learned.catch(() => undefined)
      return learned
    },
    find: async (name) => {
      await last
      return known.get(name)
    },
  }
}

const nextTurn = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve)
  })

interface Listed {
  readonly name: string
  readonly description: string
  readonly schema: JsonSchema
  /** By which a change is recognised. */
  readonly text: string
}

const readListed = (tool: unknown): readonly Listed[] => {
  if (!isMapping(tool) || typeof tool['name'] !== 'string') return []
  const { name, description, inputSchema } = tool
  const schema = isMapping(inputSchema) ? inputSchema : {}
  const told = typeof description === 'string' ? description : ''
  return [{ name, description: told, schema, text: JSON.stringify([told, schema]) }]
}
