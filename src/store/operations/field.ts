// What an operation is given, field by field: shapes within the bounds of the registry, and the errors of a request.
import { fail } from '../../errors/index.js'
import { amount, isAmount, isMapping, list, matching, readParts, such, valuesOf } from '../../shapes/index.js'
import type { Place, Read, Shape, Shapes } from '../../shapes/index.js'

const FIX = 'GET /openapi.json says what each request takes'

/** No error repeats what was sent. */
const requestPlace = (place: string): Place => ({
  at: (key) =>
    requestPlace(typeof key === 'number' ? `${place}[${String(key)}]` : place === '' ? key : `${place}.${key}`),
  entry: (key) => requestPlace(`${place}[${JSON.stringify(key)}]`),
  hidden: () => requestPlace(place),
  told: (_, expected) => requestPlace(place).wrong(undefined, expected),
  wrong: (_, expected) => fail('request-invalid', { problem: `${place} must be ${expected}`, fix: FIX }),
  notOneOf: (_, known) => fail('request-invalid', { problem: `${place} must be ${known.join(' or ')}`, fix: FIX }),
  unknown: (key, known) =>
    fail('request-invalid', {
      problem: `there is no ${JSON.stringify(key)} here; there are ${known.join(', ') || 'no fields'}`,
      fix: FIX,
    }),
})

/** All of what was given is known, and all of it is fit. */
export const readFields = <Given extends Shapes>(
  declared: Given,
  given: Readonly<Record<string, unknown>>,
): Read<Given> => {
  // What PostgreSQL calls null is nothing that was said.
  const said = Object.entries(given).filter(
    ([key, value]) => value !== null || !Object.hasOwn(declared, key) || declared[key]?.isOptional === false,
  )
  return readParts(declared, Object.fromEntries(said), requestPlace(''))
}

const MOST_LETTERS = 10_000

/** A NUL is in no text of PostgreSQL. */
const isStorable = (value: unknown, most: number): value is string =>
  typeof value === 'string' && value.length <= most && !value.includes('\0')

export const text = (most = MOST_LETTERS): Shape<string> =>
  such(`a text of at most ${String(most)} letters, without NUL`, (value) => isStorable(value, most), {
    schema: { type: 'string', maxLength: most },
  })

export const filledText = (most = MOST_LETTERS): Shape<string> =>
  such(
    `a text of 1 to ${String(most)} letters, without NUL`,
    (value) => isStorable(value, most) && value.trim() !== '',
    { schema: { type: 'string', minLength: 1, maxLength: most } },
  )

/**
 * Of teams, people, agents, runners, profiles: nothing that needs quotes anywhere, or could be taken for something
 * else.
 */
export const name = (): Shape<string> =>
  matching(/^[A-Za-z0-9][A-Za-z0-9_.@:+-]{0,127}$/, 'a name of letters, digits and _ . @ : + -, at most 128')
/** With the ending of its process. */
export const runnerName = (): Shape<string> =>
  matching(
    /^[A-Za-z0-9][A-Za-z0-9_.@:+-]{0,127}(\/[0-9a-f]{1,16})?$/,
    'the name of a runner, such as laptop or laptop/4f2a91c0',
  )
export const toolKey = (): Shape<string> => matching(/^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,127}$/, 'the key of a tool')
export const id = (): Shape<string> =>
  matching(
    /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/,
    'an id such as 0190c5d4-6f6a-7c3e-9f0a-1b2c3d4e5f60',
  )
export const hash = (): Shape<string> => matching(/^sha256:[0-9a-f]{64}$/, 'a hash such as sha256:… of what was shown')
export const fence = (): Shape<string> => matching(/^\d{1,18}$/, 'the fence of the claim')
export const outputMark = (): Shape<string> =>
  matching(/^\d{1,18}\.\d{1,9}$/, 'the mark of something that a call said, such as 1.12')

/** Amounts by name. */
export const amounts = <const Name extends string>(
  names: readonly Name[],
): Shape<{ readonly [Each in Name]?: number }> =>
  such(
    `a mapping of ${names.join(', ')} to numbers, at least 0`,
    (value) =>
      isMapping(value) &&
      Object.entries(value).every(([key, each]) => names.some((known) => known === key) && isAmount(each)),
    valuesOf(amount(), names),
  )

const MOST_ITEMS = 1000
export const boundedList = <Value>(item: Shape<Value>, most = MOST_ITEMS): Shape<readonly Value[]> =>
  list(item, { most, expected: `a list of at most ${String(most)}` })

const MOST_JSON_LETTERS = 262_144

/** Of so many letters of JSON: what is looked at with every call, or kept beside it, is no place for more. */
export const boundedMapping = (most = MOST_JSON_LETTERS): Shape<Readonly<Record<string, unknown>>> =>
  such(
    `a mapping of at most ${String(most)} letters of JSON`,
    (value) => isMapping(value) && JSON.stringify(value).length <= most,
    { schema: { type: 'object' } },
  )
