// Names of tools as model providers accept them: letters, digits, "_" and "-", at most 64 characters.
import { hashOf } from '../../gate/index.js'

const MOST = 64
const HASH_LENGTH = 8

/** The name for the model of each tool. A name that fits stays as it is. */
export const modelNamesOf = (names: readonly string[]): ReadonlyMap<string, string> => {
  const taken = new Set(names.filter(fits))
  return new Map(
    names.map((name) => {
      if (fits(name)) return [name, name]
      const plain = name.replaceAll(/[^A-Za-z0-9_-]/g, '_')
      // Two tools must not become one, nor one take the name of another.
      let given = plain.slice(0, MOST)
      for (let length = HASH_LENGTH; taken.has(given) || (length === HASH_LENGTH && plain.length > MOST); length += 1)
        given = withHash(plain, name, length)
      taken.add(given)
      return [name, given]
    }),
  )
}

const fits = (name: string): boolean => /^[A-Za-z0-9_-]{1,64}$/.test(name)

const withHash = (plain: string, name: string, length: number): string =>
  `${plain.slice(0, MOST - length - 1)}_${hashOf(name).slice('sha256:'.length).slice(0, length)}`
