/** A value in the spellings in which it could be kept, so that looking for all of them finds it. */
export const needles = (...values: readonly string[]): readonly string[] =>
  values.flatMap((value) => [
    value,
    [...value].reverse().join(''),
    Buffer.from(value).toString('hex'),
    Buffer.from(value).toString('base64').replaceAll('=', ''),
    ...['x', 'xy'].map((before) => Buffer.from(before + value).toString('base64').slice(4, -4)),
    encodeURIComponent(value),
    JSON.stringify([...value].map((character) => character.charCodeAt(0))).slice(1, -1),
  ])
