// Finds numbers that JSON.parse would change: 1e400 becomes Infinity, and 9007199254740993 another number. People would
// be shown something else than was sent.

/** `exact`: no digits are lost. `double`: any number within the range of a double, for measured values. */
export type NumberForm = 'exact' | 'double'

/** The first number of a text of JSON that is not of the form; undefined where all are. */
export const unfitNumber = (json: string, form: NumberForm): string | undefined => {
  for (let at = 0; at < json.length; at += 1) {
    const letter = json[at] ?? ''
    if (letter === '"') at = endOfString(json, at)
    else if (isDigit(letter) || letter === '-') {
      const begin = at
      while (at + 1 < json.length && isOfNumber(json[at + 1] ?? '')) at += 1
      const written = json.slice(begin, at + 1)
      if (!fits(written, form)) return written
    }
  }
  return undefined
}

const endOfString = (json: string, begin: number): number => {
  let at = begin + 1
  while (at < json.length && json[at] !== '"') at += json[at] === '\\' ? 2 : 1
  return at
}

const isDigit = (letter: string): boolean => letter >= '0' && letter <= '9'
const isOfNumber = (letter: string): boolean =>
  isDigit(letter) || letter === '.' || letter === 'e' || letter === 'E' || letter === '+' || letter === '-'

/** A double keeps this many digits of any number. */
const ALWAYS_KEPT = 15

const fits = (written: string, form: NumberForm): boolean => {
  if (written.length <= ALWAYS_KEPT && !/e/i.test(written)) return true
  const value = Number(written)
  return Number.isFinite(value) && (form === 'double' || digitsOf(written) === digitsOf(String(value)))
}

/** Its digits without noughts at either end, and where they stand: the same for every way to write a number. */
const digitsOf = (written: string): string => {
  const [, whole = '', fraction = '', power = '0'] = /^-?(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(written) ?? []
  const digits = whole + fraction
  let [first, last] = [0, digits.length]
  while (digits[first] === '0') first += 1
  while (last > first && digits[last - 1] === '0') last -= 1
  return first === last ? '0' : `${digits.slice(first, last)}e${Number(power) - fraction.length + digits.length - last}`
}
