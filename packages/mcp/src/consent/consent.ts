// What was consented to of one server, and what it offers beyond that.
//
// The first complete list of a kind is consented to as a whole: whoever starts a server chose it. Later changes wait
// until somebody consents to them, because by then the model and its user rely on what they have read.
import { canonicalJson } from 'cordon/gate'
import type { JsonObject, JsonValue } from 'cordon/gate'
import { isMapping } from 'cordon/shapes'

import { fail } from '../errors/errors.js'
import { namesCordon, skeletonOf } from './look-alike.js'
import { warningsOf } from './warnings.js'

/** As it is kept in a file. */
export interface ConsentRecord {
  /** Kinds whose first list was consented to. */
  readonly kinds: readonly OfferKind[]
  /** The canonical text of each offer that was consented to, by its key. */
  readonly pins: Readonly<Record<string, string>>
  /** Offers that wait for consent, by their key. */
  readonly held: Readonly<Record<string, HeldOffer>>
}

export interface HeldOffer {
  /** Its canonical text. */
  readonly offered: string
  readonly because: string
}

export const NO_CONSENT: ConsentRecord = { kinds: [], pins: {}, held: {} }

/** Somebody else may write between two calls, because people consent with another command. */
export interface ConsentStore {
  readonly read: () => ConsentRecord
  readonly write: (record: ConsentRecord) => void
}

export interface Consent {
  /** Takes the complete list of a kind, as the server sent it. The first one is consented to. */
  readonly listed: (kind: OfferKind, values: readonly JsonObject[]) => void
  /** Those that the model may read. The others are held. */
  readonly admitted: (kind: OfferKind, values: readonly JsonObject[]) => readonly JsonObject[]
  /** Why an offer is held, or undefined if it is not. */
  readonly heldBecause: (kind: OfferKind, name: string) => string | undefined
}

/** A server may offer without end. What is held beyond this is not written down, and stays held. */
const MOST_HELD = 1_000

export const createConsent = (store: ConsentStore): Consent => {
  let state = stateOf(store.read())
  /** Judges against what is kept now, and keeps what is held. */
  const judge = (kind: OfferKind, values: readonly JsonObject[], isWhole: boolean): readonly JsonObject[] => {
    const offers = values.map((value) => ({ value, offer: offerOf(kind, value) }))
    const isKnown = state.kinds.has(kind) && offers.every(({ offer }) => isQuiet(offer, state))
    if (isKnown) return values
    state = stateOf(store.read())
    const isFirst = isWhole && !state.kinds.has(kind)
    if (isFirst) state.kinds.add(kind)
    for (const { offer } of isFirst ? offers : []) consentToFirst(offer, state)
    const changes = offers.map(({ offer }) => settle(offer, state))
    if (isFirst || changes.some((each) => each.isChanged)) store.write(recordOf(state))
    return offers.flatMap(({ value }, at) => (changes[at]?.isAdmitted === true ? [value] : []))
  }
  return {
    listed: (kind, values) => void judge(kind, values, true),
    admitted: (kind, values) => judge(kind, values, false),
    heldBecause: (kind, name) => {
      const key = keyOf({ kind, name })
      if (state.held.has(key)) state = stateOf(store.read())
      return state.held.get(key)?.because
    },
  }
}

/** Consents to offers that wait, exactly as they were shown. Without keys: to all of them. */
export const consentTo = (record: ConsentRecord, keys: readonly string[] = Object.keys(record.held)): ConsentRecord => {
  const { pins, held, ...state } = stateOf(record)
  for (const key of keys) {
    const waiting = held.get(key)
    if (waiting === undefined) throw fail('consent-unknown', { key, known: [...held.keys()].join(', ') || 'nothing' })
    pins.set(key, waiting.offered)
    held.delete(key)
  }
  return recordOf({ ...state, pins, held })
}

interface State {
  readonly kinds: Set<OfferKind>
  readonly pins: Map<string, string>
  readonly held: Map<string, HeldOffer>
  /** The keys of the pins by what they look like. */
  readonly looks: Map<string, string>
}

const stateOf = ({ kinds, pins, held }: ConsentRecord): State => ({
  kinds: new Set(kinds),
  pins: new Map(Object.entries(pins)),
  held: new Map(Object.entries(held)),
  looks: new Map(Object.keys(pins).map((key) => [skeletonOf(key), key])),
})

const recordOf = ({ kinds, pins, held }: Omit<State, 'looks'>): ConsentRecord => ({
  kinds: [...kinds],
  pins: Object.fromEntries(pins),
  held: Object.fromEntries(held),
})

/** `_meta` is not read by models, and may differ from answer to answer. */
const offerOf = (kind: OfferKind, { _meta, ...value }: JsonObject): Offer => ({
  kind,
  name: nameOf(kind, value),
  value,
})

const isQuiet = (offer: Offer, { pins, held }: State): boolean =>
  pins.get(keyOf(offer)) === pinOf(offer) && !held.has(keyOf(offer))

const consentToFirst = (offer: Offer, state: State): void => {
  const key = keyOf(offer)
  if (state.pins.has(key) || spoiltBy(offer, state) !== undefined) return
  state.pins.set(key, pinOf(offer))
  state.looks.set(skeletonOf(key), key)
}

const settle = (offer: Offer, state: State): { readonly isAdmitted: boolean; readonly isChanged: boolean } => {
  const { held } = state
  const key = keyOf(offer)
  const offered = pinOf(offer)
  const because = problemOf(offer, offered, state)
  if (because === undefined) return { isAdmitted: true, isChanged: held.delete(key) }
  const isChanged = held.get(key)?.offered !== offered && (held.has(key) || held.size < MOST_HELD)
  if (isChanged) held.set(key, { offered, because })
  return { isAdmitted: false, isChanged }
}

const problemOf = (offer: Offer, offered: string, state: State): string | undefined => {
  const pinned = state.pins.get(keyOf(offer))
  if (pinned === offered) return undefined
  return pinned === undefined ? (spoiltBy(offer, state) ?? 'it is new') : 'it is not what was consented to'
}

/** What is wrong with an offer that nobody has consented to. */
const spoiltBy = (offer: Offer, { looks }: State): string | undefined => {
  const hidden = warningsOf(offer.value).find(({ kind }) => kind === 'hidden-characters')
  if (hidden !== undefined) return `it ${hidden.problem}`
  if (offer.kind === 'instructions' && namesCordonIn(offer.value)) return 'its name looks like that of Cordon'
  const twin = looks.get(skeletonOf(keyOf(offer)))
  return twin === undefined || twin === keyOf(offer) ? undefined : `its name looks like that of the ${twin}`
}

/** The name and the title of a server, which clients show. */
const namesCordonIn = (value: JsonValue): boolean => {
  const about = isMapping(value) ? value['about'] : undefined
  return isMapping(about) && [about['name'], about['title']].some(namesCordon)
}

/** All of it is text that a model reads, so all of it is pinned. */
export const OFFER_KINDS = ['tool', 'prompt', 'resource-template', 'instructions'] as const

export type OfferKind = (typeof OFFER_KINDS)[number]

/** `value`: as the server sent it. */
interface Offer {
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
