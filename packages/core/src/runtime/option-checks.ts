// Options are shapes whose errors name the option and what to write. An unknown option is an error too: it may be the
// one that was meant to confine a tool.
import { fail } from '../errors/index.js'
import { describeValue, didYouMean } from '../policy/index.js'
import { fields, optional, such, withoutUndefined } from '../shapes/index.js'
import type { Place, Shape } from '../shapes/index.js'

/** One shape for each option. */
export type ShapesOf<Options> = { readonly [Name in keyof Options]-?: Shape<Exclude<Options[Name], undefined>> }

/** `of` and `key` name the option, such as `createCordon` and `hooks[0].points`. */
export const optionPlace = (of: string, key = '', describe = describeOption): Place => {
  const told: Place['told'] = (found, expected, fix = '') =>
    fail('option-invalid', { of, option: key === '' ? 'what it is given' : key, expected, found, fix })
  const place: Place = {
    at: (inner) =>
      optionPlace(
        of,
        typeof inner === 'number' ? `${key}[${inner}]` : key === '' ? inner : `${key}.${inner}`,
        describe,
      ),
    entry: (name) => optionPlace(of, `${key}[${JSON.stringify(name)}]`, describe),
    hidden: () => optionPlace(of, key, (value) => (typeof value === 'string' ? 'a text' : describeOption(value))),
    told,
    wrong: (value, expected, fix) => told(describe(value), expected, fix),
    notOneOf: (value, known) =>
      place.wrong(
        value,
        `one of: ${known.join(', ')}`,
        typeof value === 'string' ? didYouMean(value, known) : undefined,
      ),
    unknown: (option, known) =>
      fail('option-unknown', {
        of,
        option: key === '' ? option : `${key}.${option}`,
        fix: didYouMean(option, known) ?? `known: ${known.join(', ')}`,
      }),
  }
  return place
}

const describeOption = (value: unknown): string => (typeof value === 'function' ? 'a function' : describeValue(value))

/** For a value with its own checks. */
export const shapeOfCheck = <Value>(check: (value: unknown, place: Place) => void): Shape<Value> => ({
  ...such<Value>('', () => true),
  read: (value, place) => {
    check(value, place)
    return value as Value
  },
})

/** Never shows the value in an error: it may be a secret. */
export const unshown = <Value>(shape: Shape<Value>, expected: string, fix = ''): Shape<Value> =>
  shapeOfCheck((value, place) => {
    try {
      shape.read(value, place)
    } catch {
      throw place.hidden().wrong(value, expected, fix)
    }
  })

export const aText = (expected: string, fix = ''): Shape<string> =>
  such(expected, (value) => typeof value === 'string' && value !== '', { fix })

export const aFunction = <Value>(expected: string, fix = ''): Shape<Value> =>
  such(expected, (value) => typeof value === 'function', { fix })

export const aCount = (of: string, fix?: string): Shape<number> =>
  such(`a number of ${of}, at least 0`, (value) => typeof value === 'number' && value >= 0, withoutUndefined({ fix }))

interface OptionTable<Options> {
  readonly options: ShapesOf<Options>
  readonly required: readonly (keyof Options)[]
  readonly expected: string
  readonly fix?: string
}

export const mappingWith = <Options>({ options, required, ...form }: OptionTable<Options>): Shape<Options> => {
  const parts = Object.entries<Shape<unknown>>(options).map(
    ([name, shape]) => [name, required.some((each) => each === name) ? shape : optional(shape)] as const,
  )
  return fields(Object.fromEntries(parts), form) as unknown as Shape<Options>
}

/** An option that is a mapping. `like`: an example for its error. */
export const mapping = <Options>(
  options: ShapesOf<Options>,
  like: string,
  more: Partial<Pick<OptionTable<Options>, 'required' | 'expected'>> = {},
): Shape<Options> =>
  mappingWith({ options, required: [], expected: 'a mapping', fix: `write it like ${like}`, ...more })
