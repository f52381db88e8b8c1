import { fail } from '../../errors/errors.js'

/** JSON for the database. Infinity and NaN are refused, because JSON.stringify would write null for them. */
export const jsonText = (value: unknown, what: string): string =>
  JSON.stringify(value, (_, each: unknown) => {
    if (typeof each === 'number' && !Number.isFinite(each))
      throw fail('store-state', {
        problem: `${what} has a number that no program can read as a double`,
        hint: 'write it as a text',
      })
    return each
  })
