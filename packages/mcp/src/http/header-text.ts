const ENCODED = /^=\?base64\?(.*)\?=$/
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/** The text of a header that may be encoded. Undefined if there is none, or it is not encoded correctly. */
export const headerText = (value: string | readonly string[] | undefined): string | undefined => {
  if (typeof value !== 'string') return undefined
  const [, encoded] = ENCODED.exec(value) ?? []
  if (encoded === undefined) return /^[\t\x20-\x7e]*$/.test(value) ? value : undefined
  return BASE64.test(encoded) ? Buffer.from(encoded, 'base64').toString('utf8') : undefined
}

/** A text as a header. It is encoded if a header cannot carry it as it is, or it looks encoded itself. */
export const encodedHeader = (text: string): string =>
  /^(?! )[\x20-\x7e]*$/.test(text) && !text.endsWith(' ') && !ENCODED.test(text)
    ? text
    : `=?base64?${Buffer.from(text).toString('base64')}?=`
