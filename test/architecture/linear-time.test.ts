// A text of a tool, a server or a file must not block the process for more than linear time.
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { literalsIn } from './regex-literals.js'
import { slowOn } from './regex-time.js'
import { FOLDERS, readTree } from './source-tree.js'

const ROOT = join(import.meta.dirname, '..', '..')

test.each([
  /[ \t]+$/,
  /\s*\n\s*/g,
  /^\s*[!-~\x80-\xff]*$/,
  /^(?:a+)+$/,
  /^(?:a|a)*$/,
  /^[a-z]*c[a-z]*$/,
  /"(?:[^"\\]|\\.)*"/g,
  /#.*$/,
  /\beyJ[\w-]{8,}\.[\w-]+/,
])('the search for slow patterns finds %s', (pattern) => {
  expect(slowOn(pattern)).toBeDefined()
})

test.each([
  /\s+/g,
  /^[ \t]+/,
  /^[\t-\r ]*[!-~\x80-\xff]*$/,
  /^a+b+$/,
  /^[abd-z]*c[a-z]*$/,
  /"(?:[^"\\]|\\[^])*(?:"|\\?$)/g,
  /(?<!\/)\/+$/,
  /^[^?]*\??/,
])('the search for slow patterns accepts %s', (pattern) => {
  expect(slowOn(pattern)).toBeUndefined()
})

test('no regular expression of a package takes more than linear time', () => {
  const literals = readTree(ROOT, FOLDERS.sources, /\.ts$/).flatMap(({ path }) =>
    literalsIn(join(ROOT, path)).map((literal) => ({ ...literal, path })),
  )
  const once = [...new Map(literals.map((literal) => [String(literal.pattern), literal])).values()]
  expect(once.length).toBeGreaterThan(100)
  const slow = once.flatMap(({ path, line, pattern }) => {
    const text = slowOn(pattern)
    return text === undefined ? [] : [`${path}:${String(line)} ${String(pattern)} is slow on ${text}`]
  })
  expect(slow).toEqual([])
})
