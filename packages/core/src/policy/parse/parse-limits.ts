import type { Limits } from '../model.js'
import type { PolicyNode } from './policy-node.js'
import { invalid, mappingOf } from './policy-node.js'
import { COUNT_FORM, DURATION_FORM, SIZE_FORM, parseCount, parseDuration, parseSize } from './quantities.js'

const QUANTITIES = {
  size: { parse: parseSize, form: SIZE_FORM },
  duration: { parse: parseDuration, form: DURATION_FORM },
  count: { parse: parseCount, form: COUNT_FORM },
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
