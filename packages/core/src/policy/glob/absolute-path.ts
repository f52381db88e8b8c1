import { fail } from '../../errors/index.js'

declare const absolutePathBrand: unique symbol

/** Absolute and normalised: no `.`, no `..`, no doubled or trailing slash, no NUL. */
export type AbsolutePath = string & { readonly [absolutePathBrand]: true }

export const ROOT_PATH = '/' as AbsolutePath

/** The normalised form of an absolute path, by its text alone: links are not followed. */
export const parseAbsolutePath = (text: string, where = 'path'): AbsolutePath => {
  const reject = (expected: string) =>
    fail('policy-invalid-value', { source: where, where: 'a path', expected, found: JSON.stringify(text), hint: '' })
  if (!text.startsWith('/')) throw reject('absolute')
  if (text.includes('\0')) throw reject('without NUL bytes')
  const names: string[] = []
  for (const name of text.split('/')) {
    if (name === '' || name === '.') continue
    if (name !== '..') names.push(name)
    // The kernel reads /.. as /, but here it is a mistake or an attack.
    else if (names.pop() === undefined) throw reject('below the root')
  }
  return joinNames(names)
}

export const joinNames = (names: readonly string[]): AbsolutePath => `/${names.join('/')}` as AbsolutePath

export const namesOf = (path: AbsolutePath): readonly string[] => (path === '/' ? [] : path.slice(1).split('/'))

export const parentOf = (path: AbsolutePath): AbsolutePath => joinNames(namesOf(path).slice(0, -1))

/** Whether `path` is `ancestor` itself or lies beneath it; `/srv/uploads` is not within `/srv/up`. */
export const isWithinPath = (path: AbsolutePath, ancestor: AbsolutePath): boolean =>
  path === ancestor || ancestor === '/' || path.startsWith(`${ancestor}/`)
