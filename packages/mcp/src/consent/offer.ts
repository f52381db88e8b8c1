// What a server offers to a model: tools, prompts, resource templates and instructions. All of it is text that a model
// reads, so all of it is pinned.
import { canonicalJson } from 'cordon/gate'
import type { JsonObject, JsonValue } from 'cordon/gate'

export const OFFER_KINDS = ['tool', 'prompt', 'resource-template', 'instructions'] as const

export type OfferKind = (typeof OFFER_KINDS)[number]

/** `value`: as the server sent it. */
export interface Offer {
  readonly kind: OfferKind
  readonly name: string
  readonly value: JsonValue
}

/** What names an offer among all offers of its server, such as `tool read_file`. */
export const keyOf = ({ kind, name }: Pick<Offer, 'kind' | 'name'>): string =>
  kind === 'instructions' ? kind : `${kind} ${name}`

/** The canonical text of an offer. It is kept whole, so that a later change can be shown. */
export const pinOf = ({ value }: Offer): string => canonicalJson(value)

/** The name by which clients use an offer. */
export const nameOf = (kind: OfferKind, value: JsonObject): string => {
  const name = value[kind === 'resource-template' ? 'uriTemplate' : 'name']
  return typeof name === 'string' ? name : ''
}
