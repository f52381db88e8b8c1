/** The words in the first column of the tables of a Markdown page, by the heading of that column. */
export const tablesOf = (page: string): ReadonlyMap<string, readonly string[]> => {
  const tables = new Map<string, string[]>()
  for (const table of page
    .split('\n\n')
    .map((block) => block.split('\n'))
    .filter(([first = '']) => first.startsWith('| '))) {
    const [heading = '', , ...rows] = table.map((row) => row.split('|')[1]?.trim() ?? '')
    const words = rows.map((cell) => cell.replaceAll('`', ''))
    tables.set(heading, [...(tables.get(heading) ?? []), ...words])
  }
  return tables
}
