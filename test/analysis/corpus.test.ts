import { expect, test } from 'vitest'

import { CORPUS } from './corpus.js'
import type { Case } from './corpus.js'
import { projectOf, toolsOf } from './project.js'

const fileOf = ({ before = '', policy, run }: Case): string =>
  `import { tool } from 'cordon'\n${before}\nexport const made = tool({ name: 'made', policy: ${policy}, run: ${run} })\n`

const folderOf = (at: number): string => `case-${at}`
const program = projectOf(
  Object.fromEntries(
    CORPUS.flatMap((each, at) =>
      Object.entries({ ...each.files, 'tool.ts': fileOf(each) }).map(([name, text]) => [
        `${folderOf(at)}/${name}`,
        text,
      ]),
    ),
  ),
)

test.each(CORPUS.map((each, at) => ({ ...each, at })))('$claim', ({ at, does }) => {
  const [tool] = toolsOf(program, `${folderOf(at)}/tool.ts`)
  const opaque = (tool?.uses ?? []).filter(({ deed }) => deed.kind === 'opaque').map(() => 'opaque')
  expect([...new Set([...(tool?.beyond ?? []).map((each) => each.does), ...opaque])]).toEqual(does)
})
