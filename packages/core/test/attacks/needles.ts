// Makes the spellings in which a value could be stored, so that a search finds each.
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
