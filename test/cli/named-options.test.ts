// Pages, helps and examples name only options that the named command understands.
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { renderHelp } from '../../packages/core/src/line/help.js'

import { LISTED, listedFor } from './helps.js'

const ROOT = join(import.meta.dirname, '..', '..')
const PAGE_FOLDERS = [
  'docs',
  'docs/decisions',
  'deploy',
  ...readdirSync(join(ROOT, 'packages')).map((name) => `packages/${name}/docs`),
]
const pages = [
  ...['README.md', 'SECURITY.md', 'ARCHITECTURE.md', 'CHANGELOG.md'],
  ...PAGE_FOLDERS.filter((folder) => existsSync(join(ROOT, folder))).flatMap((folder) =>
    readdirSync(join(ROOT, folder), { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => `${folder}/${name}`),
  ),
]

interface Named {
  readonly command: string
  readonly option: string
}

/**
 * From "cordon COMMAND" to the end of the line, of the quotation, or of the words of the command (a pipe, `--`, a
 * comment).
 */
const namedIn = (text: string): readonly Named[] =>
  Array.from(text.matchAll(/\bcordon (?<words>[a-z]+[^\n`|;&#]*)/g)).flatMap(({ groups }) => {
    const own = (groups?.['words'] ?? '').split(/ -- |, or | and cordon /)[0] ?? ''
    const listed = listedFor(own.split(' '))
    if (listed === undefined) return []
    return Array.from(own.matchAll(/(?<=[ [(])--(?<option>[a-z][a-z-]*)/g), ({ groups: found }) => ({
      command: listed.words.join(' '),
      option: found?.['option'] ?? '',
    }))
  })

const isKnown = ({ command, option }: Named): boolean =>
  option === 'help' ||
  LISTED.find(({ words }) => words.join(' ') === command)?.help.groups.some(({ options }) =>
    options.some(({ name }) => name === option),
  ) === true

test.each(pages)('%s names only existing options', (page) => {
  expect(namedIn(readFileSync(join(ROOT, page), 'utf8')).filter((each) => !isKnown(each))).toEqual([])
})

test.each(LISTED)('the help of cordon $words names only existing options of other commands', ({ help }) => {
  expect(namedIn(renderHelp(help)).filter((each) => !isKnown(each))).toEqual([])
})

test('an unknown option is found, also in a pipeline', () => {
  expect(
    namedIn('`cordon runner --tools DIR --no-such-thing | cordon team tools register - --nor-this`').filter(
      (each) => !isKnown(each),
    ),
  ).toEqual([
    { command: 'runner', option: 'no-such-thing' },
    { command: 'team tools', option: 'nor-this' },
  ])
})
