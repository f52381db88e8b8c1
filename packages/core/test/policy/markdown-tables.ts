/** The rows of the tables of a page, by the titles of their columns. Inline code loses its quotes. */
export const tablesOf = (
  page: string,
): readonly { readonly columns: readonly string[]; readonly rows: readonly (readonly string[])[] }[] =>
  page
    .split(/\n{2,}/)
    .map((block) => block.split('\n').filter((line) => line.startsWith('|')))
    .filter((lines) => lines.length > 2)
    .map(([head = '', , ...rows]) => ({ columns: cellsOf(head), rows: rows.map(cellsOf) }))

const cellsOf = (line: string): readonly string[] =>
  line
    .slice(1, -1)
    .split(' | ')
    .map((cell) => cell.trim())
    .map((cell) => /^`(.*)`$/.exec(cell)?.[1] ?? cell)

/** The contents of the fenced blocks of one language. */
export const blocksOf = (page: string, language: string): readonly string[] =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))].map(([, text = '']) => text)
