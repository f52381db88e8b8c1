// What the analysis says of the tools of a corpus.
import type { Case } from './corpus.js'
import { projectOf, toolsOf } from './project.js'

const fileOf = ({ before = '', policy, run = '', options = `run: ${run}` }: Case): string =>
  `import { tool } from 'cordon'\n${before}\nexport const made = tool({ name: 'made', policy: ${policy}, ${options} })\n`

const folderOf = (at: number): string => `case-${at}`

/** By the place of the case in the list. All of them are one project. */
export const saidOf = (cases: readonly Case[]): ((at: number) => readonly string[]) => {
  const program = projectOf(
    Object.fromEntries(
      cases.flatMap((each, at) =>
        Object.entries({ ...each.files, 'tool.ts': fileOf(each) }).map(([name, text]) => [
          `${folderOf(at)}/${name}`,
          text,
        ]),
      ),
    ),
  )
  return (at) => {
    const [tool] = toolsOf(program, `${folderOf(at)}/tool.ts`)
    if (tool?.policy !== 'written') throw new Error(`the case ${at} has no tool with a valid policy`)
    const opaque = tool.uses.filter(({ deed }) => deed.kind === 'opaque').map(() => 'opaque')
    return [...new Set([...tool.beyond.map((each) => each.does), ...opaque])]
  }
}
