import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, it } from 'vitest'

import type { ErrorText } from '../../packages/core/src/errors/index.js'

import { ALL_ERRORS, TABLES } from './all-errors.js'
import { FIX_EXAMPLES } from './fix-examples.js'

const quoted = (text: string) => (text === '' ? '' : `\`${text.replaceAll('|', '\\|')}\``)

const renderEntry = ([code, { when, message, agent, fix }]: [string, ErrorText]): string =>
  [
    `## ${code}`,
    '',
    when,
    '',
    `- operator: ${quoted(message)}`,
    `- model: ${quoted(agent)}`,
    ...(fix === undefined
      ? []
      : [
          code in FIX_EXAMPLES
            ? `- fix, for example: ${quoted(FIX_EXAMPLES[code as keyof typeof FIX_EXAMPLES])}`
            : `- fix: ${quoted(fix)}`,
        ]),
    '',
  ].join('\n')

const renderPage = (): string =>
  [
    '# Errors',
    '',
    'Every error has a code that stays, a message for the operator, and a message that is safe to show to a model.',
    'Words in braces are filled in. A fix that depends on the case is shown by an example. This page is ' +
      'written from the tables of the packages by `npx vitest run test/errors -u`.',
    '',
    ...Object.entries(ALL_ERRORS).map((entry) => renderEntry(entry)),
  ].join('\n')

const ROOT = join(import.meta.dirname, '..', '..', 'packages')
const PIECE = 12

describe('docs/errors.md', () => {
  it('equals the table', async () => {
    await expect(renderPage()).toMatchFileSnapshot('../../docs/errors.md')
  })

  it('shows examples of fixes that Cordon prints', () => {
    const sources = [...Object.keys(TABLES).map((name) => `${name}/src`), 'team/sql']
      .flatMap((folder) =>
        readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
          .filter((name) => /\.(?:ts|sql)$/.test(name))
          .map((name) => readFileSync(join(ROOT, folder, name), 'utf8')),
      )
      .join('\n')
    // Names and paths in them are examples; the words around them are in the source.
    const isPrinted = (example: string): boolean =>
      Array.from({ length: Math.max(1, example.length - PIECE) }, (_, at) => example.slice(at, at + PIECE)).some(
        (piece) => sources.includes(piece),
      )
    expect(Object.entries(FIX_EXAMPLES).filter(([, example]) => !isPrinted(example))).toEqual([])
    expect(isPrinted('ask the moon for a better way')).toBe(false)
  })

  it('lists codes in kebab-case only', () => {
    expect(Object.keys(ALL_ERRORS).filter((code) => !/^[a-z]+(-[a-z]+)*$/.test(code))).toEqual([])
  })
})
