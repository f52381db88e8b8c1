import { describe, expect, it } from 'vitest'

import { ERRORS } from '../../src/errors/index.js'
import type { ErrorText } from '../../src/errors/table.js'

const quoted = (text: string) => (text === '' ? '' : `\`${text.replaceAll('|', '\\|')}\``)

const renderEntry = ([code, { when, message, agent, fix }]: [string, ErrorText]): string =>
  [
    `## ${code}`,
    '',
    when,
    '',
    `- operator: ${quoted(message)}`,
    `- model: ${quoted(agent)}`,
    ...(fix === undefined ? [] : [`- fix: ${quoted(fix)}`]),
    '',
  ].join('\n')

const renderPage = (): string =>
  [
    '# Errors',
    '',
    'Every error has a code that stays, a message for the operator, and a message that is safe to show to a model.',
    'Words in braces are filled in. This page is written from `src/errors/table.ts` by `npx vitest run test/errors -u`.',
    '',
    ...Object.entries(ERRORS).map((entry) => renderEntry(entry)),
  ].join('\n')

describe('docs/errors.md', () => {
  it('says exactly what the table says', async () => {
    await expect(renderPage()).toMatchFileSnapshot('../../docs/errors.md')
  })

  it('lists codes in kebab-case only', () => {
    expect(Object.keys(ERRORS).filter((code) => !/^[a-z]+(-[a-z]+)*$/.test(code))).toEqual([])
  })
})
