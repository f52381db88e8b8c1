// JSON.parse takes the last of two equal keys, other readers the first. What the gate judges must be
// what everybody else reads, so arguments that arrive as text are refused when a key stands twice.

import { messageOf } from '../message-of.js'

export type ParsedJson =
  { readonly kind: 'json'; readonly value: unknown } | { readonly kind: 'problem'; readonly problem: string }

export const parseJson = (text: string): ParsedJson => {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    return { kind: 'problem', problem: `not JSON: ${messageOf(error)}` }
  }
  const twice = repeatedKey(text)
  return twice === undefined
    ? { kind: 'json', value }
    : { kind: 'problem', problem: `the key ${JSON.stringify(twice)} stands twice in one object` }
}

// A string that has no end would be looked for from each of its quotes; where it ends with the text that is done at
// once.
const STRING_OR_PUNCTUATION = /"(?:[^"\\]|\\[^])*(?:"|\\?$)|[{}[\],:]/g

/** Only for text that JSON.parse has accepted: strings and punctuation are all that is looked at. */
export const repeatedKey = (text: string): string | undefined => {
  const open: (Set<string> | undefined)[] = []
  let lastString: string | undefined
  for (const [token] of text.matchAll(STRING_OR_PUNCTUATION)) {
    if (token === '{') open.push(new Set())
    else if (token === '[') open.push(undefined)
    else if (token === '}' || token === ']') open.pop()
    else if (token === ':' && lastString !== undefined) {
      // Escapes make one key out of many spellings.
      const key = JSON.parse(lastString) as string
      const keys = open.at(-1)
      if (keys?.has(key) === true) return key
      keys?.add(key)
    }
    lastString = token.startsWith('"') ? token : undefined
  }
  return undefined
}
