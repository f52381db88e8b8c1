import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { TABLES } from './all-errors.js'

const PACKAGES = join(import.meta.dirname, '..', '..', 'packages')

const raisedIn = (name: string): ReadonlySet<string> => {
  const sources = join(PACKAGES, name, 'src')
  return new Set(
    readdirSync(sources, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .flatMap((file) =>
        [...readFileSync(join(sources, file), 'utf8').matchAll(/\bfail\(\s*'([a-z-]+)'/g)].map(([, code = '']) => code),
      ),
  )
}

test.for(Object.entries(TABLES))('every code of the package %s is raised there', ([name, table]) => {
  const raised = raisedIn(name)
  expect(raised.size).toBeGreaterThan(0)
  expect(Object.keys(table).filter((code) => !raised.has(code) && !raisedIn('team').has(code))).toEqual([])
})

test('no two packages have the same code', () => {
  const codes = Object.values(TABLES).flatMap((table) => Object.keys(table))
  expect(codes.length).toBeGreaterThan(100)
  expect(codes.filter((code, at) => codes.indexOf(code) !== at)).toEqual([])
})
