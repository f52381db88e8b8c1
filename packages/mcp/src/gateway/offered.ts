// What clients may read of what servers offer: only what somebody has consented to.
import type { CordonError } from 'cordon/errors'
import type { JsonObject } from 'cordon/gate'
import { isMapping } from 'cordon/shapes'

import { fail } from '../errors/errors.js'
import { nameOf } from '../consent/index.js'
import type { OfferKind } from '../consent/index.js'
import type { ServerLink } from './server-link.js'
import { LISTS } from '../wire/era-2025.js'
import { fieldsOf, textField } from '../wire/messages.js'
import type { Fields } from '../wire/messages.js'

export interface Offer {
  /** The answer to `initialize`, without instructions that nobody has consented to. */
  readonly introduced: (link: ServerLink, answer: Fields) => Fields
  /** Entries of a list that clients may read. `listAll`: reads the whole list if this is one page of it. */
  readonly admitted: (
    link: ServerLink,
    method: string,
    entries: readonly unknown[],
    listAll: (() => Promise<readonly unknown[]>) | undefined,
  ) => Promise<readonly Fields[]>
  /** Why clients may not use an offer, or undefined if they may. */
  readonly refusal: (link: ServerLink, kind: OfferKind, name: string) => CordonError | undefined
}

export const createOffered = (onTrouble: (error: CordonError) => void): Offer => {
  const told = new Set<string>()
  /** Kinds of which this session has seen a whole list. */
  const seen = new WeakMap<ServerLink, Set<OfferKind>>()

  const tell = (link: ServerLink, kind: OfferKind, name: string): void => {
    const error = refusal(link, kind, name)
    if (error === undefined || told.has(error.message)) return
    told.add(error.message)
    onTrouble(error)
  }
  const isNamedShortly = (link: ServerLink, entry: JsonObject): boolean => {
    if (hasShortNames(entry)) return true
    const problem = `lists entries without a name, names of more than ${MOST_IN_NAME} or URIs of more than ${MOST_IN_URI} letters`
    if (!told.has(link.name)) onTrouble(fail('mcp-server-garbled', { server: link.name, problem }))
    told.add(link.name)
    return false
  }
  const refusal: Offer['refusal'] = (link, kind, name) => {
    const because = link.source.consent.heldBecause(kind, name)
    const offer = kind === 'instructions' ? kind : `${kind} ${JSON.stringify(name)}`
    return because === undefined ? undefined : fail('mcp-offer-held', { server: link.name, offer, because })
  }
  const judge = (link: ServerLink, kind: OfferKind, entries: readonly JsonObject[]): readonly JsonObject[] => {
    const admitted = link.source.consent.admitted(kind, entries)
    if (admitted.length < entries.length) for (const entry of entries) tell(link, kind, nameOf(kind, entry))
    return admitted
  }
  const see = (link: ServerLink, kind: OfferKind, entries: readonly JsonObject[]): void => {
    link.source.consent.listed(kind, entries)
    seen.set(link, (seen.get(link) ?? new Set()).add(kind))
  }
  return {
    introduced: (link, answer) => {
      if (!('result' in answer)) return answer
      const { instructions, ...result } = fieldsOf(answer['result'])
      const capabilities = fieldsOf(result['capabilities'])
      // What a server does not offer now is new if it offers it later.
      for (const { offer, capability } of Object.values(LISTS))
        if (offer !== undefined && !(capability in capabilities)) see(link, offer, [])
      // Clients show a server's own name and description beside its instructions.
      const { version, ...about } = fieldsOf(result['serverInfo'])
      const offer = { about, instructions: typeof instructions === 'string' ? instructions : null } as JsonObject
      see(link, 'instructions', [offer])
      if (judge(link, 'instructions', [offer]).length === 1)
        return typeof instructions === 'string' ? answer : { ...answer, result }
      return { ...answer, result: { ...result, serverInfo: { name: link.name, version } } }
    },
    admitted: async (link, method, entries, listAll) => {
      const kind = LISTS[method]?.offer
      const mappings = mappingsOf(entries).filter((entry) => isNamedShortly(link, entry))
      if (kind === undefined) return mappings
      const isSeen = seen.get(link)?.has(kind) === true
      if (listAll === undefined || !isSeen)
        see(link, kind, listAll === undefined ? mappings : mappingsOf(await listAll()).filter(hasShortNames))
      return judge(link, kind, mappings)
    },
    refusal,
  }
}

const MOST_IN_NAME = 256
const MOST_IN_URI = 8_192

/** Clients refuse a whole list if one of its entries has no name. */
const hasShortNames = ({ name, uri, uriTemplate }: JsonObject): boolean =>
  typeof name === 'string' &&
  name.length <= MOST_IN_NAME &&
  [uri, uriTemplate].every((each) => textField(each).length <= MOST_IN_URI)

/** They were JSON when they came. */
const mappingsOf = (entries: readonly unknown[]): readonly JsonObject[] =>
  entries.filter(isMapping) as readonly JsonObject[]
