import { expect, test } from 'vitest'

import { parseDays, parseSince, parseSpan } from '../../src/line/text/time-words.js'

test.each([
  ['500ms', 500],
  ['30s', 30_000],
  ['2m', 120_000],
  ['8h', 28_800_000],
  ['7d', 604_800_000],
  ['1.5d', 129_600_000],
  ['0d', undefined],
  ['0s', undefined],
  ['7', undefined],
  ['7D', undefined],
  ['d', undefined],
  ['-1d', undefined],
  ['', undefined],
  ['9999999d', undefined],
])('%j is a span of %s ms', (text, ms) => {
  expect(parseSpan(text)).toBe(ms)
})

test('since is a time, or a span before now', () => {
  const now = Date.parse('2026-01-31T12:00:00Z')
  expect(parseSince('7d', now)).toBe(Date.parse('2026-01-24T12:00:00Z'))
  expect(parseSince('2026-01-30T00:00:00Z', now)).toBe(Date.parse('2026-01-30T00:00:00Z'))
  expect(parseSince('yesterday', now)).toBeUndefined()
})

test.each([
  ['400d', 400],
  ['400', 400],
  ['1d', 1],
  ['0', undefined],
  ['1h', undefined],
  ['1.5d', undefined],
  ['', undefined],
])('%j is %s whole days', (text, days) => {
  expect(parseDays(text)).toBe(days)
})
