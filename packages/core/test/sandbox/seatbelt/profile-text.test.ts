import { expect, it } from 'vitest'

import { PROTECTED_NAMES } from '../../../src/policy/index.js'
import { profileText } from '../../../src/sandbox/seatbelt/profile-text.js'
import { path } from '../../policy/places.js'
import { PORT, planOf } from './plans.js'

const GOLDEN = {
  'nothing': planOf({}, { mayFork: false }),
  'reads-and-writes': planOf({ filesystem: { read: ['data/**', 'notes.txt', '!data/private'], write: ['out/**'] } }),
  'granted-hosts': planOf({ filesystem: { read: ['.', '!**/*.key'] } }, { network: { port: PORT } }),
  'everything': planOf(
    { filesystem: { read: ['/'], write: ['.'] } },
    { exec: 'all', network: 'all', read: [{ path: path('/Users'), object: 'directory' }] },
  ),
}

/** The protected names are in a page of their own. In a golden file, their count is enough. */
const shortened = (text: string): string => {
  const lines = text.split('\n')
  const isProtected = (line: string) => /^ {2}\(require-all \(require-not /.test(line)
  return lines
    .filter((line, at) => !isProtected(line) || !isProtected(lines[at - 1] ?? ''))
    .map((line, at, kept) => (isProtected(line) ? `${line}\n  ; and more of them` : kept[at]))
    .join('\n')
}

it.each(Object.entries(GOLDEN))('the profile "%s" is the one in its file', async (name, plan) => {
  await expect(shortened(profileText(plan))).toMatchFileSnapshot(`golden/${name}.sb`)
})

it('a profile with a write root has a rule for each protected name', () => {
  const rules = profileText(GOLDEN['everything']).match(/^ {2}\(require-all \(require-not .*$/gm) ?? []
  expect(rules.length).toBeGreaterThan(PROTECTED_NAMES.length)
  expect(profileText(GOLDEN['nothing'])).not.toContain('[gG][iI][tT]')
})

it('a profile fits into an argument', () => {
  // The limit of macOS for all arguments and variables together is a mebibyte.
  expect(Buffer.byteLength(profileText(GOLDEN['everything']))).toBeLessThan(256 * 1024)
})
