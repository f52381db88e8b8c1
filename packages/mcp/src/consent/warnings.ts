// Warns of text in an offer that people do not see, or that speaks to the model about more than the tool.
import type { JsonValue } from 'cordon/gate'

/** What a screen does not show: controls, formats, tags, private use, and blanks that are not plain ones. */
const HIDDEN = /(?![\n\r\t])[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u

/** Joiners and variants within an emoji are part of its picture. */
const EMOJI =
  /\p{Extended_Pictographic}[\ufe0e\ufe0f\u{1f3fb}-\u{1f3ff}]?(?:\u200d\p{Extended_Pictographic}[\ufe0e\ufe0f\u{1f3fb}-\u{1f3ff}]?)*/gu

/** Seen in real attacks by descriptions. Nobody is kept from writing other words: a person still has to read. */
const INSTRUCTIONS: readonly RegExp[] = [
  /\b(?:ignore|disregard|forget) (?:all |any )?(?:previous|prior|earlier|above|other) /i,
  /\b(?:do not|don't|never|without) (?:tell|telling|mention|mentioning|inform|informing|notify|notifying|show|showing) /i,
  /<\/?(?:important|system|instructions?|secret|assistant|user)>/i,
  /\bsystem prompt\b/i,
  /\b(?:before|after|whenever|instead of) (?:you )?(?:use|using|call|calling|invoke|invoking) (?:this|any|other|another|the) /i,
  /(?:~|\/home\/\w+|\/root)?\/?\.(?:ssh|aws|gnupg|netrc|npmrc|docker|kube|env)\b/i,
  /\b(?:id_rsa|id_ed25519|private key|api[ _-]?keys?|password|credentials?) .{0,40}\b(?:as|in|into|to) (?:the|this|its|an?) /i,
]

export interface Warning {
  readonly kind: 'hidden-characters' | 'instructions'
  readonly problem: string
}

export const warningsOf = (value: JsonValue): readonly Warning[] => {
  const texts = allTextsIn(value)
  const hidden = texts.map(hiddenIn).find((found) => found !== undefined)
  const words = texts.map(instructionIn).find((found) => found !== undefined)
  return [
    ...(hidden === undefined
      ? []
      : [{ kind: 'hidden-characters', problem: `has the hidden character ${hidden}` } as const]),
    ...(words === undefined
      ? []
      : [{ kind: 'instructions', problem: `seems to give the model instructions: ${JSON.stringify(words)}` } as const]),
  ]
}

const hiddenIn = (text: string): string | undefined => {
  const found = HIDDEN.exec(text.replace(EMOJI, ''))?.[0].codePointAt(0)
  return found === undefined ? undefined : `U+${found.toString(16).toUpperCase().padStart(4, '0')}`
}

const instructionIn = (text: string): string | undefined => {
  for (const pattern of INSTRUCTIONS) {
    const found = pattern.exec(text)
    if (found !== null) return text.slice(Math.max(0, found.index - 20), found.index + found[0].length + 20).trim()
  }
  return undefined
}

/** Every text in it, keys included. */
export const allTextsIn = (value: JsonValue): readonly string[] => {
  const texts: string[] = []
  const open: JsonValue[] = [value]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next === 'string') texts.push(next)
    else if (typeof next === 'object' && next !== null)
      for (const [key, each] of Object.entries<JsonValue>(next)) {
        if (!Array.isArray(next)) texts.push(key)
        open.push(each)
      }
  }
  return texts
}
