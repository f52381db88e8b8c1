// Fields of requests: shapes within the bounds of the registry, and the errors of a request.
import { isMapping, list, matching, readParts, such } from 'cordon/shapes'
import type { Place, Read, Shape, Shapes } from 'cordon/shapes'

import { fail } from '../../errors/errors.js'

const FIX = 'GET /openapi.json says what each request takes'

/** Errors never repeat the values of a request. */
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

/** Refuses unknown fields and wrong values. */
export const readFields = <Given extends Shapes>(
  declared: Given,
  given: Readonly<Record<string, unknown>>,
): Read<Given> => {
  // Null is the same as a field that is left out, where it may be left out.
  const said = Object.entries(given).filter(
    ([key, value]) => value !== null || !Object.hasOwn(declared, key) || declared[key]?.isOptional === false,
  )
  return readParts(declared, Object.fromEntries(said), requestPlace(''))
}

/** In one answer. */
export const MOST_ROWS = 1000
/** For an approval, and for what was approved. */
export const LONGEST_WAIT_SECONDS = 30 * 86_400

const MOST_LETTERS = 10_000

/** PostgreSQL stores no NUL. */
const isStorable = (value: unknown, most: number): value is string =>
  typeof value === 'string' && value.length <= most && !value.includes('\0')

export const text = (most = MOST_LETTERS): Shape<string> =>
  such(`a text of at most ${String(most)} letters, without NUL`, (value) => isStorable(value, most), {
    schema: { type: 'string', maxLength: most },
  })

export const filledText = (most: number): Shape<string> =>
  such(
    `a text of 1 to ${String(most)} letters, without NUL`,
    (value) => isStorable(value, most) && value.trim() !== '',
    { schema: { type: 'string', minLength: 1, maxLength: most } },
  )

/** The name of a team, member, runner or profile. It needs no quotes anywhere. */
export const name = (): Shape<string> =>
  matching(/^[A-Za-z0-9][A-Za-z0-9_.@:+-]{0,127}$/, 'a name of letters, digits and _ . @ : + -, at most 128')
/** It may end with an id of its process. */
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

export const boundedList = <Value>(item: Shape<Value>): Shape<readonly Value[]> =>
  list(item, { most: 1000, expected: 'a list of at most 1000' })

const MOST_JSON_LETTERS = 262_144

/** Bounded, because it is read or stored with every call. */
export const boundedMapping = (most = MOST_JSON_LETTERS): Shape<Readonly<Record<string, unknown>>> =>
  such(
    `a mapping of at most ${String(most)} letters of JSON`,
    (value) => isMapping(value) && JSON.stringify(value).length <= most,
    { schema: { type: 'object' } },
  )
