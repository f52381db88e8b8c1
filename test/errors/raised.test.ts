import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { ERRORS } from '../../src/errors/index.js'

const SOURCES = join(import.meta.dirname, '..', '..', 'src')

const raised = new Set(
  readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .flatMap((name) =>
      [...readFileSync(join(SOURCES, name), 'utf8').matchAll(/\bfail\(\s*'([a-z-]+)'/g)].map(([, code = '']) => code),
    ),
)

test('every code of the table is raised somewhere', () => {
  expect(raised.size).toBeGreaterThan(20)
  expect(Object.keys(ERRORS).filter((code) => !raised.has(code))).toEqual([])
})
