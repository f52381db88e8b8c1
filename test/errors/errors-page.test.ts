import { describe, expect, it } from 'vitest'

import type { ErrorTable } from '../../packages/core/src/errors/index.js'

import { ALL_ERRORS, TABLES } from './all-errors.js'

const HEAD = `# Errors

Every error has a code that stays, a message for the operator, and a message that is safe to show to a model.
\`cordon explain CODE\` prints both, and the fix. This page is written from the tables of the packages by
\`npx vitest run test/errors -u\`.
`

const cell = (text: string): string => text.replaceAll('|', '\\|')

const renderPage = (): string =>
  [
    HEAD,
    ...Object.entries<ErrorTable>(TABLES).flatMap(([name, table]) => [
      `## ${name}`,
      '',
      '| code | when |',
      '| --- | --- |',
      ...Object.entries(table).map(([code, { when }]) => `| \`${code}\` | ${cell(when)} |`),
      '',
    ]),
  ].join('\n')

describe('docs/errors.md', () => {
  it('equals the tables', async () => {
    await expect(renderPage()).toMatchFileSnapshot('../../docs/errors.md')
  })

  it('lists codes in kebab-case only', () => {
    expect(Object.keys(ALL_ERRORS).filter((code) => !/^[a-z]+(-[a-z]+)*$/.test(code))).toEqual([])
  })
})
