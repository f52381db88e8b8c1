// Finds the words of the protocol in the text of the C sources. It relies on how they are written. A source in
// another style yields nothing, and the comparison fails.
import type { SourceFile } from './source-tree.js'

export interface NativeWords {
  /** `NAME = 'x'` of an enum, as [name, letter]. */
  readonly lettersOf: (enumeration: string) => readonly (readonly [string, string])[]
  readonly namesOf: (enumeration: string) => readonly string[]
  readonly constant: (name: string) => string | undefined
  /** Single words in quotes in one file (a path below packages/core/native/), but for the stages of die(). */
  readonly wordsIn: (file: string) => readonly string[]
  /** Letters that a function tells apart, by the constants that they stand for. */
  readonly casesIn: (file: string, functionName: string, prefix: string) => Readonly<Record<string, string>>
  readonly stages: readonly string[]
  /** Format strings of whole events, unescaped. */
  readonly events: readonly string[]
  /** Format strings of the fields of a violation, unescaped. */
  readonly violationFields: readonly string[]
  readonly violationKinds: readonly string[]
}

const all = (text: string, pattern: RegExp): readonly string[] =>
  Array.from(text.matchAll(pattern), ([, found = '']) => found)

const unescaped = (literal: string): string => literal.replaceAll('\\"', '"')

export const readNativeWords = (files: readonly SourceFile[]): NativeWords => {
  const everything = files.map(({ text }) => text).join('\n')
  const textOf = (file: string) => files.find(({ path }) => path === `packages/core/native/${file}`)?.text ?? ''
  const bodyOf = (enumeration: string) => new RegExp(`enum ${enumeration} \\{([^}]*)\\}`).exec(everything)?.[1] ?? ''
  const literals = all(everything, /"((?:[^"\\\n]|\\.)*)"/g).map(unescaped)
  return {
    lettersOf: (enumeration) =>
      Array.from(
        bodyOf(enumeration).matchAll(/(\w+) = '(.)'/g),
        ([, name = '', letter = '']) => [name, letter] as const,
      ),
    namesOf: (enumeration) => all(bodyOf(enumeration), /\b([A-Z][A-Z_]+)\b/g),
    constant: (name) => new RegExp(`#define ${name} "([^"]*)"`).exec(everything)?.[1],
    wordsIn: (file) => all(textOf(file).replaceAll(/\bdie(?:_of_call)?\("[^"]*"/g, ''), /"([A-Za-z]+(?:-[a-z]+)*)"/g),
    casesIn: (file, functionName, prefix) => {
      const body = new RegExp(`\\b${functionName}\\([^;{]*\\)\\n\\{[\\s\\S]*?\\n\\}`).exec(textOf(file))?.[0] ?? ''
      const cases = body.matchAll(new RegExp(`case '(.)':[^;]*${prefix}(\\w+);`, 'g'))
      return Object.fromEntries(Array.from(cases, ([, letter = '', name = '']) => [name.toLowerCase(), letter]))
    },
    stages: [
      ...all(everything, /\bdie(?:_of_call)?\("([^"]+)"/g),
      ...literals.flatMap((literal) => all(literal, /"stage":"([a-z-]+)"/g)),
    ],
    events: literals.filter((literal) => literal.startsWith('{"event":')),
    violationFields: literals.filter((literal) => /^"\w+":/.test(literal)),
    violationKinds: [
      ...all(
        everything,
        /\b(?:report_(?:path_|address_)?violation|stop_for_limit|tell_violation)\(call, "([a-zA-Z]+)"/g,
      ),
      ...all(everything, /\\"kind\\":\\"([a-z]+)\\"/g),
    ],
  }
}
