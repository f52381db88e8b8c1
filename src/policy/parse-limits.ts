import type { Limits } from './model.js'
import type { PolicyNode } from './policy-node.js'
import { invalid, mappingOf } from './policy-node.js'
import { COUNT_FORM, DURATION_FORM, SIZE_FORM, parseCount, parseDuration, parseSize } from './quantities.js'

interface Quantity {
  readonly parse: (value: unknown) => number | undefined
  readonly form: string
}

const QUANTITIES = {
  size: { parse: parseSize, form: SIZE_FORM },
  duration: { parse: parseDuration, form: DURATION_FORM },
  count: { parse: parseCount, form: COUNT_FORM },
} as const satisfies Readonly<Record<string, Quantity>>

export interface LimitForm {
  readonly quantity: keyof typeof QUANTITIES
  /** With less than this no program gets as far as its own first line: a slip of the unit, not a limit. */
  readonly least?: string
}

export const LIMIT_FORMS: Readonly<Record<keyof Limits, LimitForm>> = {
  memory: { quantity: 'size', least: '1M' },
  processes: { quantity: 'count' },
  cpu: { quantity: 'duration', least: '10ms' },
  wall: { quantity: 'duration', least: '10ms' },
  output: { quantity: 'size' },
  openFiles: { quantity: 'count' },
  fileSize: { quantity: 'size' },
  scratch: { quantity: 'size', least: '4K' },
}

export const LIMIT_NAMES = Object.keys(LIMIT_FORMS) as readonly (keyof Limits)[]

export const parseLimits = (node: PolicyNode): Limits => {
  const given = mappingOf(node, LIMIT_NAMES)
  const limits: { -readonly [Name in keyof Limits]: Limits[Name] } = {}
  for (const name of LIMIT_NAMES) {
    const entry = given[name]
    if (entry === undefined) continue
    const { quantity, least } = LIMIT_FORMS[name]
    const { parse, form } = QUANTITIES[quantity]
    const value = parse(entry.value)
    if (value === undefined || value < (parse(least) ?? 0)) throw invalid(entry, least === undefined ? form : `${form}, at least ${least}`)
    limits[name] = value
  }
  return limits
}
