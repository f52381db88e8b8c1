// Chooses the registered tools that a runner serves: those that it has exactly as registered, and can confine.
import type { SecretSource } from 'cordon/egress'
import type { EgressClass } from 'cordon/policy'

import { lackOf } from '../registry/index.js'
import type { HostAbilities } from '../registry/index.js'
import type { RunnableTool } from '../store/index.js'
import { classProblem } from '../tools/egress-class.js'
import type { RunnerTool } from '../tools/tool-files.js'

/** A tool of this host, with the egress class of its policy. */
export type KnownTool = RunnerTool & { readonly egressClass: EgressClass; readonly stored: readonly StoredSecret[] }

/** A credential whose value is in the store. */
export interface StoredSecret {
  readonly id: string
  readonly team: string
  readonly ref: string
}

export const storedSecrets = (
  { definition }: RunnerTool,
  sources: ReadonlyMap<string, SecretSource>,
): readonly StoredSecret[] =>
  definition.policy.credentials.flatMap(({ id }) => {
    const source = sources.get(id)
    return source?.kind === 'store' ? [{ id, team: source.team, ref: source.ref }] : []
  })

/** `refused`: tools of this host that it does not serve, and why. */
export const chooseServing = (
  known: readonly KnownTool[],
  registered: readonly RunnableTool[],
  abilities: HostAbilities,
): {
  readonly tasks: readonly string[]
  readonly refused: readonly { readonly tool: string; readonly because: string }[]
} => {
  const byName = new Map(known.map((tool) => [tool.definition.name, tool]))
  const judged = registered.flatMap((tool) => {
    const own = byName.get(tool.key)
    return own === undefined ? [] : [{ tool, because: problemOf(tool, own, abilities) }]
  })
  return {
    tasks: judged
      .filter(({ because }) => because === undefined)
      .map(({ tool }) => tool.task)
      .sort(),
    refused: judged.flatMap(({ tool, because }) =>
      because === undefined ? [] : [{ tool: `${tool.owner}/${tool.key}`, because }],
    ),
  }
}

const problemOf = (registered: RunnableTool, own: KnownTool, abilities: HostAbilities): string | undefined => {
  const { version, egressClass, definition } = registered
  const hash = definition['hash']
  if (typeof hash !== 'string') return `version ${version} was registered without a hash; here it is ${own.hash}`
  if (hash !== own.hash) return `version ${version} is another tool (${hash}) than the one in ${own.file} (${own.hash})`
  return (
    classProblem(egressClass, own.egressClass) ?? credentialProblem(registered, own) ?? lackOf(registered, abilities)
  )
}

/** The store gives a credential only to a runner of a call whose tool is registered with it. */
const credentialProblem = ({ owner, key, credentialRef }: RunnableTool, { stored }: KnownTool): string | undefined => {
  const lacking = stored.find(({ team, ref }) => team !== owner || ref !== credentialRef)
  if (lacking === undefined) return undefined
  const { id, team, ref } = lacking
  if (team !== owner)
    return `its credential ${id} is store:${team}/${ref}, which is another team's; this tool is ${owner}'s`
  if (credentialRef !== null && stored.length > 1)
    return (
      'it uses more than one credential of the store, and a tool is registered with one: give the others by ' +
      `another --secret, such as ${id}=file:PATH`
    )
  return (
    `it uses store:${team}/${ref} (--secret ${id}=…), and is registered ` +
    `${credentialRef === null ? 'without it' : `with the credential ${credentialRef}`}: add "credential": ` +
    `"${ref}" to ${key} in the file of cordon team tools register, and register it again`
  )
}
