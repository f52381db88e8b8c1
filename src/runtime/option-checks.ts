// Options are checked by tables of what each may be. What is misspelt or of another kind is refused with
// the way out: an option that is passed over in silence may be all that was meant to hold a tool.
import { fail } from '../errors/index.js'
import type { CordonError } from '../errors/index.js'
import { describeValue, nearestKey } from '../policy/index.js'

/** Whose option it is, and which: `createCordon` and `hooks[0].points`. */
export interface OptionPlace {
  readonly of: string
  readonly key: string
}

/** Throws where a value is not what it has to be. */
export type OptionCheck = (value: unknown, place: OptionPlace) => void

export const wrongOption = ({ of, key }: OptionPlace, value: unknown, expected: string, fix = ''): CordonError =>
  fail('option-invalid', { of, option: key === '' ? 'what it is given' : key, expected, found: typeof value === 'function' ? 'a function' : describeValue(value), fix })

/** For what may be a secret, given in the wrong place: no error repeats it. */
export const wrongUnshown = ({ of, key }: OptionPlace, value: unknown, expected: string, fix = ''): CordonError =>
  fail('option-invalid', { of, option: key, expected, found: typeof value === 'string' ? 'a text' : describeValue(value), fix })

export const unshown =
  (check: OptionCheck, expected: string, fix = ''): OptionCheck =>
  (value, place) => {
    try {
      check(value, place)
    } catch {
      throw wrongUnshown(place, value, expected, fix)
    }
  }

export const such =
  (expected: string, fits: (value: unknown) => boolean, fix = ''): OptionCheck =>
  (value, place) => {
    if (!fits(value)) throw wrongOption(place, value, expected, fix)
  }

export const aText = (expected: string, fix = ''): OptionCheck => such(expected, (value) => typeof value === 'string' && value !== '', fix)

export const aFunction = (expected: string, fix = ''): OptionCheck => such(expected, (value) => typeof value === 'function', fix)

export const aFlag: OptionCheck = such('true or false', (value) => typeof value === 'boolean')

export const aCount = (of: string): OptionCheck => such(`a number of ${of}, at least 0`, (value) => typeof value === 'number' && value >= 0)

export const oneOf = (known: readonly string[]): OptionCheck => (value, place) => {
  if (known.some((each) => each === value)) return
  const near = typeof value === 'string' ? nearestKey(value, known) : undefined
  throw wrongOption(place, value, `one of: ${known.join(', ')}`, near === undefined ? '' : `did you mean "${near}"?`)
}

export const listOf =
  (each: OptionCheck, expected: string, fix = ''): OptionCheck =>
  (value, place) => {
    if (!Array.isArray(value)) throw wrongOption(place, value, expected, fix)
    for (const [at, item] of value.entries()) each(item, { ...place, key: `${place.key}[${String(at)}]` })
  }

export interface OptionTable {
  readonly options: Readonly<Record<string, OptionCheck>>
  /** Those that may not be left out. */
  readonly required: readonly string[]
  readonly expected: string
  readonly fix?: string
}

export const mappingWith =
  (table: OptionTable): OptionCheck =>
  (value, place) => {
    const { options, required, expected, fix } = table
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrongOption(place, value, expected, fix)
    const given = value as Readonly<Record<string, unknown>>
    // An object of a class may keep what it likes for itself.
    if (isPlain(value)) for (const key of Object.keys(given)) if (!Object.hasOwn(options, key)) throw unknownOption(place, key, Object.keys(options))
    for (const [key, check] of Object.entries(options)) {
      // Also what a class inherits; and `undefined` is how an option is left out.
      const option = given[key]
      if (option !== undefined || required.includes(key)) check(option, { ...place, key: place.key === '' ? key : `${place.key}.${key}` })
    }
  }

const isPlain = (value: object): boolean => {
  const parent: unknown = Object.getPrototypeOf(value)
  return parent === null || parent === Object.prototype
}

const unknownOption = ({ of, key }: OptionPlace, option: string, known: readonly string[]): CordonError => {
  const near = nearestKey(option, known)
  return fail('option-unknown', { of, option: key === '' ? option : `${key}.${option}`, fix: near === undefined ? `known: ${known.join(', ')}` : `did you mean "${near}"?` })
}
