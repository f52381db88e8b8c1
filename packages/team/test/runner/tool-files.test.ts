// The files of tools that a runner reads.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { loadToolFiles } from '@cordon/team'

import { openStage } from '../../../core/test/runtime/stage.js'

const { newFolder } = openStage()
const file = (text: string): string => {
  const path = join(newFolder(), 'note.yaml')
  writeFileSync(path, text)
  return path
}

test('a file for `cordon team tools register` is distinguished from a file of tools, which is read', async () => {
  await expect(
    loadToolFiles([file('key: note\ndescription: notes\ndefinition: { kind: process, command: [ true ] }\n')]),
  ).rejects.toMatchObject({
    code: 'runner-tools-invalid',
    fix: expect.stringMatching(
      /^in the tools file, write: tools: .*; this looks like a file for `cordon team tools register`$/,
    ) as string,
  })
  await expect(loadToolFiles([file('tool: []\n')])).rejects.toMatchObject({
    message: expect.stringContaining('unknown key "tool" in the tools file') as string,
  })
  expect(await loadToolFiles([file('tools: [{ name: note, command: [ "true" ] }]\n')])).toMatchObject([
    { definition: { name: 'note' } },
  ])
})
