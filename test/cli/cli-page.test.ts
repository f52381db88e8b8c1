import { expect, test } from 'vitest'

import { renderHelp } from '../../packages/core/src/line/help.js'

import { LISTED } from './helps.js'

const page = [
  '# Command line',
  '',
  'This page is written from the table of the commands by `npx vitest run test/cli/cli-page.test.ts -u`.',
  '',
  ...LISTED.flatMap(({ words, help }) => [
    `## cordon ${words.join(' ')}`,
    '',
    '```text',
    renderHelp(help).trimEnd(),
    '```',
    '',
  ]),
].join('\n')

test('docs/cli.md equals the help of all commands', async () => {
  await expect(page).toMatchFileSnapshot('../../docs/cli.md')
})
