import { describe, expect, test } from 'vitest'

import { parseArguments, parseScattered } from '../../src/line/arguments.js'

const OPTIONS = [{ name: 'read', value: 'PATH', repeatable: true, help: 'reads' }]
const parse = (words: readonly string[]) => parseArguments(words, { groups: [{ options: OPTIONS }] }, 'cordon run')
const scattered = (words: readonly string[]) => parseScattered(words, { groups: [{ options: OPTIONS }] }, 'cordon x')

describe('words of a command', () => {
  test('are passed to it, however many and long they are', () => {
    const many = Array.from({ length: 200_000 }, (_, at) => String(at))
    expect(parse(['--read', '.', '--', 'echo', ...many]).rest).toHaveLength(200_001)
    expect(scattered(['show', '--', ...many]).rest).toHaveLength(200_001)
    expect(parse(['echo', `-${'a'.repeat(200_000)}`, '--read', 'x'])).toMatchObject({ values: new Map() })
  })

  test('begin at the first word that is not an option, or after --', () => {
    expect(parse(['--read=a', '--read', '-b', 'cat', '--read', 'c'])).toEqual({
      switches: new Set(),
      values: new Map([['read', ['a', '-b']]]),
      rest: ['cat', '--read', 'c'],
    })
    expect(parse(['--', '--read', 'a']).rest).toEqual(['--read', 'a'])
    expect(parse(['-', 'x']).rest).toEqual(['-', 'x'])
  })
})

test.each(['-abc', '-hh', '-h-', '-x=1'])('%s is not an option, although it may look like one', (word) => {
  expect(() => parse([word])).toThrow(`unknown option ${word.split('=')[0] ?? ''}`)
  expect(() => scattered([word])).toThrow('unknown option')
  expect(parse(['-h']).switches).toEqual(new Set(['help']))
})
