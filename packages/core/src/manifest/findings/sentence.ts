// A sentence about a project. Its texts come from others, so each output has to quote them in its own way.

/** Own words, the name of something, or another text of a project. */
export type Part = string | { readonly name: string } | { readonly value: string }
export type Sentence = readonly Part[]

type Given = string | number | Exclude<Part, string> | Sentence

/** Texts in the template are own words. A given text is a value of others. */
export const say = (words: TemplateStringsArray, ...given: readonly Given[]): Sentence =>
  words.flatMap((word, at) => {
    const next = given[at]
    return [...(word === '' ? [] : [word]), ...(next === undefined ? [] : partsOf(next))]
  })

const partsOf = (given: Given): Sentence => {
  if (typeof given === 'string' || typeof given === 'number') return [{ value: String(given) }]
  return 'length' in given ? given : [given]
}

/** Own words that are not known before. */
export const words = (text: string): Sentence => [text]
export const namedPart = (name: string): Part => ({ name })

/** Without the quotes of any output. */
export const sentenceText = (sentence: Sentence): string =>
  sentence
    .map((part) => (typeof part === 'string' ? part : 'name' in part ? JSON.stringify(part.name) : part.value))
    .join('')
