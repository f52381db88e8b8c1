// Clean files get no findings, however many tools they have.
import { expect, test } from 'vitest'

import { CLEAN_FILES } from './clean-files.js'
import { projectOf, toolsOf } from './project.js'

const program = projectOf(
  Object.fromEntries(
    CLEAN_FILES.flatMap(({ files }, at) =>
      Object.entries(files).map(([name, text]) => [`clean-${at}/${name}`, text] as const),
    ),
  ),
)

test.each(CLEAN_FILES.map((each, at) => ({ ...each, at })))('no finding for $claim', ({ at, name = 'tools.ts' }) => {
  const tools = toolsOf(program, `clean-${at}/${name}`)
  expect(tools.length).toBeGreaterThan(1)
  expect(
    tools.flatMap((tool) => [
      ...tool.beyond.map(({ does }) => `${tool.site.name} ${does}`),
      ...tool.uses.flatMap(({ deed }) => (deed.kind === 'opaque' ? [`${tool.site.name}: ${deed.because}`] : [])),
      ...(tool.policy === 'written' ? [] : [`${tool.site.name}: policy`]),
    ]),
  ).toEqual([])
})
