// Reads the events of a launcher: one JSON object per event frame. An event that is not understood is an error of the
// call, because a word that one side does not know may be a boundary.
import { bug } from '../../errors/index.js'
import { isMapping, number, oneOf, readParts, text, yesOrNo } from '../../shapes/index.js'
import type { Place, Read, Shapes } from '../../shapes/index.js'

import { textOfName } from '../grants/file-names.js'
import { LIMIT_KINDS } from './violations.js'
import type { LimitKind, Violation } from './violations.js'

export const EVENTS = {
  /** A nursery started the wall around the launcher. */
  wall: { pid: number() },
  /** Limits of 0 are none. `network`: whether the tool has a network namespace of its own. */
  applied: {
    landlock: number(),
    supervisor: number(),
    measurable: yesOrNo(),
    network: oneOf('own', 'shared', 'unknown'),
    mounts: number(),
    rules: number(),
    sum: number(),
    filtered: yesOrNo(),
    unprivileged: yesOrNo(),
    open_files: number(),
    file_size: number(),
    cpu_seconds: number(),
  },
  /** An attempt that the launcher takes to be refused. The host judges whether the boundary refused it. */
  open: {
    path: text(),
    /** `write` changes, removes or replaces an object, `make` needs only its folder, `new` fails if it exists. */
    access: oneOf('read', 'write', 'make', 'new'),
    /** Whether the cell lacks the object or, if it is to be made, its folder. */
    withheld: yesOrNo(),
  },
  stopped: { signal: number() },
  error: { stage: text(), errno: number(), error: text(), detail: text() },
  exit: {
    /** Negative if a signal ended the tool. */
    code: number(),
    /** 0 if no signal ended the tool. */
    signal: number(),
    limit: oneOf('', ...LIMIT_KINDS),
    wall_ms: number(),
    cpu_ms: number(),
    max_rss_kb: number(),
    /** Bytes of all processes together. 0 if nobody counted. */
    memory_peak: number(),
  },
}

const PATH = { path: text() }
const ENDPOINT = { address: text(), port: number() }
const REACHED = { limit: number(), used: number(), effect: oneOf('ended', 'refused') }

export const ADDRESSES = {
  inet: ENDPOINT,
  inet6: ENDPOINT,
  unix: PATH,
  abstract: { name: text() },
  host: { name: text(), port: number() },
  other: { number: number() },
}
export const VIOLATIONS = {
  lookup: { name: text() },
  exec: PATH,
  metadata: PATH,
  unsealed: PATH,
  ...(Object.fromEntries(LIMIT_KINDS.map((kind) => [kind, REACHED])) as Record<LimitKind, typeof REACHED>),
}

type EventOf<Name extends keyof typeof EVENTS> = { readonly event: Name } & Read<(typeof EVENTS)[Name]>
export type AppliedEvent = EventOf<'applied'>
export type OpenEvent = EventOf<'open'>
export type ErrorEvent = EventOf<'error'>
export type ExitEvent = EventOf<'exit'>

/** Only the host knows why an open was refused, what the watcher renamed, and what the proxy refused. */
export type ReportedViolation = Exclude<Violation, { readonly kind: 'file' | 'protected' | 'egress' }>

export type CellEvent =
  | { [Name in keyof typeof EVENTS]: EventOf<Name> }[keyof typeof EVENTS]
  | { readonly event: 'violation'; readonly violation: ReportedViolation }

export const parseCellEvent = (payload: Buffer): CellEvent => {
  const line = payload.toString('latin1')
  const place = placeIn(line)
  const parsed: unknown = HAS_OTHER_BYTES.test(line) ? JSON.parse(line, bytesToText) : JSON.parse(line)
  if (!isMapping(parsed)) throw place.wrong(parsed, 'a mapping')
  const { event, ...rest } = parsed
  return event === 'violation'
    ? { event, violation: parseViolation(rest, place) }
    : (readTagged('event', EVENTS, parsed, place) as CellEvent)
}

const parseViolation = ({ kind, ...rest }: Mapping, place: Place): ReportedViolation =>
  (kind === 'connect' || kind === 'listen'
    ? { kind, ...readTagged('family', ADDRESSES, rest, place) }
    : readTagged('kind', VIOLATIONS, { kind, ...rest }, place)) as ReportedViolation

type Mapping = Readonly<Record<string, unknown>>

/** The field `tag` says which fields follow. */
const readTagged = (tag: string, table: Readonly<Record<string, Shapes>>, value: Mapping, place: Place): object => {
  const { [tag]: word, ...rest } = value
  const parts = typeof word === 'string' && Object.hasOwn(table, word) ? table[word] : undefined
  if (parts === undefined) throw place.notOneOf(word, Object.keys(table))
  return { [tag]: word, ...readParts(parts, rest, place) }
}

const placeIn = (line: string): Place => {
  const refuse = (): never => bug(`the launcher sent an event that is not understood: ${line.slice(0, 200)}`)
  const place: Place = {
    at: () => place,
    entry: () => place,
    hidden: () => place,
    wrong: refuse,
    told: refuse,
    notOneOf: refuse,
    unknown: refuse,
  }
  return place
}

// Most events have none, such as the exit of most calls.
const HAS_OTHER_BYTES = /[\\\x80-\xff]/

/** The launcher writes bytes beyond ASCII as \u00XX, because a file name need not be UTF-8. */
const bytesToText = (_key: string, value: unknown): unknown =>
  typeof value === 'string' ? textOfName(Buffer.from(value, 'latin1')) : value
