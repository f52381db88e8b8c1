import { fail } from '../../errors/index.js'

/** A value as the database reads it. Infinity and NaN are no JSON: written as null they would be another value. */
export const jsonText = (value: unknown, what: string): string =>
  JSON.stringify(value, (_, each: unknown) => {
    if (typeof each === 'number' && !Number.isFinite(each))
      throw fail('store-state', {
        problem: `${what} has a number that no program can read as a double`,
        hint: 'write it as a text',
      })
    return each
  })
