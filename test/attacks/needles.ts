/** A value in the spellings in which it could be kept, so that looking for all of them finds it. */
export const needles = (...values: readonly string[]): readonly string[] =>
  values.flatMap((value) => {
    const bytes = Buffer.from(value)
    return [
      value,
      Buffer.from(bytes).reverse().toString(),
      bytes.toString('hex'),
      bytes.toString('base64').replaceAll('=', ''),
      ...['x', 'xy'].map((before) =>
        Buffer.from(before + value)
          .toString('base64')
          .slice(4, -4),
      ),
      encodeURIComponent(value),
      bytes.join(','),
    ]
  })
