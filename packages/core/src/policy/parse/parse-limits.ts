// The section `limits`: sizes, durations and counts as people write them. A size without a unit is in bytes. A duration
// needs a unit, because seconds and milliseconds are both common.
import type { Limits } from '../model.js'
import type { PolicyNode } from './policy-node.js'
import { invalid, mappingOf } from './policy-node.js'

const BYTES: Readonly<Record<string, number>> = { '': 1, 'K': 2 ** 10, 'M': 2 ** 20, 'G': 2 ** 30, 'T': 2 ** 40 }
const MILLISECONDS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

const SIZE = /^(?<count>\d+(\.\d+)?)(?<unit>[KMGT]?)(iB)?$/i
const DURATION = /^(?<count>\d+(\.\d+)?)(?<unit>ms|s|m|h)$/

const scale = (match: RegExpExecArray | null, units: Readonly<Record<string, number>>): number | undefined => {
  const { count = '', unit = '' } = match?.groups ?? {}
  const factor = units[unit] ?? units[unit.toUpperCase()]
  if (count === '' || factor === undefined) return undefined
  return positive(Number(count) * factor)
}

const positive = (value: number): number | undefined => (Number.isSafeInteger(value) && value > 0 ? value : undefined)

/** In bytes. */
export const parseSize = (value: unknown): number | undefined => {
  if (typeof value === 'number') return positive(value)
  return typeof value === 'string' ? scale(SIZE.exec(value), BYTES) : undefined
}

const written = (value: number, units: Readonly<Record<string, number>>): string => {
  const [unit = '', factor = 1] =
    Object.entries(units)
      .toReversed()
      .find(([, each]) => value >= each && value % each === 0) ?? []
  return `${value / factor}${unit}`
}

/** In the largest unit that is exact: 268435456 bytes are 256M. */
export const renderSize = (bytes: number): string => written(bytes, BYTES)
export const renderTime = (milliseconds: number): string => written(milliseconds, MILLISECONDS)

/** In milliseconds. */
export const parseDuration = (value: unknown): number | undefined =>
  typeof value === 'string' ? scale(DURATION.exec(value), MILLISECONDS) : undefined

const parseCount = (value: unknown): number | undefined => (typeof value === 'number' ? positive(value) : undefined)

const QUANTITIES = {
  size: { parse: parseSize, form: 'a size such as 256M or 1G (K, M, G, T: powers of 1024)' },
  duration: { parse: parseDuration, form: 'a duration such as 500ms, 30s, 2m or 1h' },
  count: { parse: parseCount, form: 'a whole number of at least 1' },
} as const

export interface LimitForm {
  readonly quantity: keyof typeof QUANTITIES
  /** No program can start with less than this, so a smaller value is a mistake in the unit. */
  readonly least?: string
}

/** All limits. The parser, the schema and the planner use this table. */
export const LIMIT_FORMS = {
  memory: { quantity: 'size', least: '1M' },
  processes: { quantity: 'count' },
  cpu: { quantity: 'duration', least: '10ms' },
  wall: { quantity: 'duration', least: '10ms' },
  output: { quantity: 'size' },
  openFiles: { quantity: 'count' },
  fileSize: { quantity: 'size' },
  scratch: { quantity: 'size', least: '4K' },
} as const satisfies Readonly<Record<keyof Limits, LimitForm>>

export const LIMIT_NAMES = Object.keys(LIMIT_FORMS) as readonly (keyof Limits)[]

export const parseLimits = (node: PolicyNode): Limits => {
  const given = mappingOf(node, LIMIT_NAMES)
  const limits: { -readonly [Name in keyof Limits]: Limits[Name] } = {}
  for (const name of LIMIT_NAMES) {
    const entry = given[name]
    if (entry === undefined) continue
    const { quantity, least }: LimitForm = LIMIT_FORMS[name]
    const { parse, form } = QUANTITIES[quantity]
    const value = parse(entry.value)
    if (value === undefined || value < (parse(least) ?? 0))
      throw invalid(
        entry,
        least === undefined ? form : `${form}, at least ${least}`,
        value === undefined ? likelyMeant(entry.value, quantity) : `give at least ${least ?? ''}`,
      )
    limits[name] = value
  }
  return limits
}

/** `30` for 30s, `1GB` for 1G. */
const likelyMeant = (value: unknown, quantity: LimitForm['quantity']): string => {
  const { parse } = QUANTITIES[quantity]
  const text = String(value).replaceAll(/\s/g, '')
  const meant = [
    `${text}s`,
    `${text}ms`,
    text.replace(/(?:b|bytes)$/i, ''),
    text.replace(/sec(?:onds?)?$/i, 's'),
    text.replace(/min(?:utes?)?$/i, 'm'),
  ].filter((each) => each !== value && parse(each) !== undefined)
  if (meant.length > 0) return `did you mean ${[...new Set(meant)].join(' or ')}?`
  return quantity === 'count'
    ? 'write a number without a unit, such as 16'
    : 'write a number and its unit, as in the examples'
}
