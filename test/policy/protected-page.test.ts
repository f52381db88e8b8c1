import { fileURLToPath } from 'node:url'

import { expect, test } from 'vitest'

import { PROTECTED_NAMES } from '../../src/policy/protected.js'
import type { ProtectedName } from '../../src/policy/protected.js'

const WHERE: Readonly<Record<ProtectedName['scope'], string>> = { anywhere: 'at every depth', project: 'at every depth, but not in node_modules and its kin', root: 'directly in it' }

const reasons = [...new Set(PROTECTED_NAMES.map(({ because }) => because))]

const PAGE = [
  '# Protected names',
  '',
  'This page is written from the table of the code by `npx vitest run test/policy/protected-page.test.ts -u`.',
  '',
  'In what a policy grants for writing these names stay read-only, because a program outside of the cell runs or',
  'obeys them without being asked. A write grant that names one exactly permits it (`--write .git/config`).',
  '',
  '| names | where in a write root | because |',
  '| --- | --- | --- |',
  ...reasons.map((reason) => {
    const those = PROTECTED_NAMES.filter(({ because }) => because === reason)
    const names = those.map(({ name, object }) => `\`${name}\`${object === 'file' ? ' (where it is no folder)' : ''}`).join(', ')
    return `| ${names} | ${[...new Set(those.map(({ scope }) => WHERE[scope]))].join('; ')} | ${reason.replaceAll('|', '\\|')} |`
  }),
  '',
].join('\n')

test('docs/protected-names.md says what the table says', async () => {
  await expect(PAGE).toMatchFileSnapshot(fileURLToPath(new URL('../../docs/protected-names.md', import.meta.url)))
})
