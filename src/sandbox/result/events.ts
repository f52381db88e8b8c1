// What a launcher reports: one JSON object per event frame. Here, and nowhere else, it becomes typed; what
// is not understood is an error of the call, because a word that one side does not know may be a boundary.
import { bug } from '../../errors/index.js'

import { textOfName } from '../grants/file-names.js'
import { LIMIT_KINDS } from './violations.js'
import type { LimitKind, SocketAddress, Violation } from './violations.js'

export type CellEvent =
  | { readonly event: 'applied'; readonly landlock: number; readonly supervisor: number; readonly measurable: boolean }
  | { readonly event: 'violation'; readonly violation: ReportedViolation }
  | OpenEvent
  | { readonly event: 'stopped'; readonly signal: number }
  | ErrorEvent
  | ExitEvent

/**
 * The launcher sees everything but what the host alone can tell: why an open was refused, what was put aside, what the
 * proxy refused.
 */
export type ReportedViolation = Exclude<Violation, { readonly kind: 'file' | 'protected' | 'egress' }>

/**
 * Something that the tool tried, and that the launcher takes to be refused: the host judges whether the boundary did
 * it.
 */
export interface OpenEvent {
  readonly event: 'open'
  readonly path: string
  /**
   * `write` changes, removes or replaces what is there; `make` needs only its folder; `new` fails by itself where
   * something is there.
   */
  readonly access: 'read' | 'write' | 'make' | 'new'
  /** Whether the cell lacks the object or, of what is to be made, the folder it would be in. */
  readonly withheld: boolean
}

export interface ErrorEvent {
  readonly event: 'error'
  readonly stage: string
  readonly errno: number
  readonly error: string
  readonly detail: string
}

export interface ExitEvent {
  readonly event: 'exit'
  /** Negative when a signal ended the tool. */
  readonly code: number
  /** 0 when none did. */
  readonly signal: number
  readonly limit: '' | LimitKind
  readonly wall_ms: number
  readonly cpu_ms: number
  readonly max_rss_kb: number
  /** Bytes of all processes together; 0 where nobody counted. */
  readonly memory_peak: number
}

export const EVENT_NAMES = [
  'applied',
  'violation',
  'open',
  'stopped',
  'error',
  'exit',
] as const satisfies readonly CellEvent['event'][]
export const REPORTED_KINDS = [
  'connect',
  'listen',
  'lookup',
  'exec',
  'metadata',
  'unsealed',
  ...LIMIT_KINDS,
] as const satisfies readonly ReportedViolation['kind'][]
export const ADDRESS_FAMILIES = [
  'inet',
  'inet6',
  'unix',
  'abstract',
  'host',
  'other',
] as const satisfies readonly SocketAddress['family'][]

export const parseCellEvent = (payload: Buffer): CellEvent => {
  const line = payload.toString('latin1')
  const fields = fieldsOf(HAS_OTHER_BYTES.test(line) ? JSON.parse(line, bytesToText) : JSON.parse(line), line)
  const event = parseFields(fields)
  fields.refuseOthers()
  return event
}

const parseFields = (fields: Fields): CellEvent => {
  const event = fields.oneOf('event', EVENT_NAMES)
  switch (event) {
    case 'applied':
      return {
        event,
        landlock: fields.number('landlock'),
        supervisor: fields.number('supervisor'),
        measurable: fields.flag('measurable'),
      }
    case 'violation':
      return { event, violation: parseViolation(fields) }
    case 'open':
      return {
        event,
        path: fields.text('path'),
        access: fields.oneOf('access', ['read', 'write', 'make', 'new']),
        withheld: fields.flag('withheld'),
      }
    case 'stopped':
      return { event, signal: fields.number('signal') }
    case 'error':
      return {
        event,
        stage: fields.text('stage'),
        errno: fields.number('errno'),
        error: fields.text('error'),
        detail: fields.text('detail'),
      }
    case 'exit':
      return {
        event,
        code: fields.number('code'),
        signal: fields.number('signal'),
        limit: fields.oneOf('limit', ['', ...LIMIT_KINDS]),
        wall_ms: fields.number('wall_ms'),
        cpu_ms: fields.number('cpu_ms'),
        max_rss_kb: fields.number('max_rss_kb'),
        memory_peak: fields.number('memory_peak'),
      }
  }
}

const parseViolation = (fields: Fields): ReportedViolation => {
  const kind = fields.oneOf('kind', REPORTED_KINDS)
  switch (kind) {
    case 'connect':
    case 'listen':
      return { kind, ...parseAddress(fields) }
    case 'lookup':
      return { kind, name: fields.text('name') }
    case 'exec':
    case 'metadata':
    case 'unsealed':
      return { kind, path: fields.text('path') }
    case 'memory':
    case 'processes':
    case 'cpu':
    case 'wall':
    case 'output':
    case 'scratch':
    case 'fileSize':
      return {
        kind,
        limit: fields.number('limit'),
        used: fields.number('used'),
        effect: fields.oneOf('effect', ['ended', 'refused']),
      }
  }
}

const parseAddress = (fields: Fields): SocketAddress => {
  const family = fields.oneOf('family', ADDRESS_FAMILIES)
  switch (family) {
    case 'inet':
    case 'inet6':
      return { family, address: fields.text('address'), port: fields.number('port') }
    case 'unix':
      return { family, path: fields.text('path') }
    case 'abstract':
      return { family, name: fields.text('name') }
    case 'host':
      return { family, name: fields.text('name'), port: fields.number('port') }
    case 'other':
      return { family, number: fields.number('number') }
  }
}

// Most events have none, and the exit of every call is one of them.
const HAS_OTHER_BYTES = /[\\\x80-\xff]/

/** The launcher writes bytes beyond ASCII as \u00XX, because a file name need not be UTF-8. */
const bytesToText = (_key: string, value: unknown): unknown =>
  typeof value === 'string' ? textOfName(Buffer.from(value, 'latin1')) : value

interface Fields {
  readonly text: (name: string) => string
  readonly number: (name: string) => number
  readonly flag: (name: string) => boolean
  readonly oneOf: <const Word extends string>(name: string, words: readonly Word[]) => Word
  /** What nobody asked for was not understood either. */
  readonly refuseOthers: () => void
}

const fieldsOf = (parsed: unknown, line: string): Fields => {
  const record = typeof parsed === 'object' && parsed !== null ? (parsed as Readonly<Record<string, unknown>>) : {}
  const asked = new Set<string>()
  const valueOf = (name: string): unknown => {
    asked.add(name)
    return record[name]
  }
  const refuse = (name: string): never => bug(`the launcher sent an unknown or missing ${name}: ${line.slice(0, 200)}`)
  const text = (name: string): string => {
    const value = valueOf(name)
    return typeof value === 'string' ? value : refuse(name)
  }
  return {
    text,
    number: (name) => {
      const value = valueOf(name)
      return typeof value === 'number' ? value : refuse(name)
    },
    flag: (name) => {
      const value = valueOf(name)
      return typeof value === 'boolean' ? value : refuse(name)
    },
    oneOf: (name, words) => words.find((word) => word === text(name)) ?? refuse(name),
    refuseOthers: () => {
      const other = Object.keys(record).find((name) => !asked.has(name))
      if (other !== undefined) refuse(other)
    },
  }
}
