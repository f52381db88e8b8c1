import type { Limits } from './model.js'
import type { PolicyNode } from './policy-node.js'
import { invalid, mappingOf } from './policy-node.js'
import { COUNT_FORM, DURATION_FORM, SIZE_FORM, parseCount, parseDuration, parseSize } from './quantities.js'

interface Quantity {
  readonly parse: (value: unknown) => number | undefined
  readonly form: string
}

const SIZE: Quantity = { parse: parseSize, form: SIZE_FORM }
const DURATION: Quantity = { parse: parseDuration, form: DURATION_FORM }
const COUNT: Quantity = { parse: parseCount, form: COUNT_FORM }

/** With less than this no program gets as far as its own first line: a slip of the unit, not a limit. */
const atLeast = ({ parse, form }: Quantity, least: string | number): Quantity => ({
  parse: (value) => {
    const parsed = parse(value)
    return parsed !== undefined && parsed >= (parse(least) ?? 0) ? parsed : undefined
  },
  form: `${form}, at least ${String(least)}`,
})

const LIMITS: Readonly<Record<keyof Limits, Quantity>> = {
  memory: atLeast(SIZE, '1M'),
  processes: COUNT,
  cpu: atLeast(DURATION, '10ms'),
  wall: atLeast(DURATION, '10ms'),
  output: SIZE,
  openFiles: COUNT,
  fileSize: SIZE,
  scratch: atLeast(SIZE, '4K'),
}

export const LIMIT_NAMES = Object.keys(LIMITS) as readonly (keyof Limits)[]

export const parseLimits = (node: PolicyNode): Limits => {
  const given = mappingOf(node, LIMIT_NAMES)
  const limits: { -readonly [Name in keyof Limits]: Limits[Name] } = {}
  for (const name of LIMIT_NAMES) {
    const entry = given[name]
    if (entry === undefined) continue
    const { parse, form } = LIMITS[name]
    const value = parse(entry.value)
    if (value === undefined) throw invalid(entry, form)
    limits[name] = value
  }
  return limits
}
