import fc from 'fast-check'
import { expect, test } from 'vitest'

import { readWords } from '../../src/line/text/read-words.js'
import { markedLines, visible, visibleWord, wrapText } from '../../src/line/text/visible-text.js'

const word = fc
  .string({
    unit: fc.oneof(
      fc.constantFrom("'", '"', '\\', '$', ' ', '\n', '\u001b', '\u202e', '\u00a0', 'n', 'x', '{', 'a', '*', '~'),
      fc.string({ minLength: 1, maxLength: 1, unit: 'grapheme' }),
    ),
    maxLength: 12,
  })
  .filter((text) => !text.includes('\0'))

test('a shown word reads back as the same word', () => {
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 5 }), (words) => {
      expect(readWords(words.map(visibleWord).join(' '))).toEqual({ kind: 'words', words })
    }),
  )
})

test('no two lists of words look the same', () => {
  fc.assert(
    fc.property(
      fc.array(word, { minLength: 1, maxLength: 4 }),
      fc.array(word, { minLength: 1, maxLength: 4 }),
      (a, b) => {
        expect(a.map(visibleWord).join(' ') === b.map(visibleWord).join(' ')).toBe(
          JSON.stringify(a) === JSON.stringify(b),
        )
      },
    ),
  )
})

test('shown text never controls a terminal', () => {
  fc.assert(
    fc.property(fc.oneof(word, fc.string({ unit: 'binary' })), (text) => {
      for (const shown of [visible(text), visibleWord(text)]) expect(shown).toMatch(/^[^\p{C}\p{Zl}\p{Zp}]*$/u)
    }),
  )
})

test('Cordon breaks long texts, with a mark', () => {
  expect(markedLines('abcdef', 4, '| ')).toEqual(['| abcd', '| ef'])
  expect(markedLines('日本語', 4, '| ')).toEqual(['| 日本', '| 語'])
  expect(markedLines('', 4, '| ')).toEqual(['| '])
})

test(
  'facts are broken between words, and within words that are too long; nothing of them is lost, and no line is ' +
    'too wide',
  () => {
    expect(wrapText('made by postgres, today', 10)).toEqual(['made by', 'postgres,', 'today'])
    expect(wrapText('abcdefgh ij', 4)).toEqual(['abcd', 'efgh', 'ij'])
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('a', 'b', ' ', 'ж', '語') }),
        fc.integer({ min: 2, max: 12 }),
        (text, columns) => {
          const lines = wrapText(text, columns)
          expect(lines.join('').replaceAll(' ', '')).toBe(text.replaceAll(' ', ''))
          for (const line of lines)
            expect(
              Array.from(line, (character) => (character > '\u02ff' ? 2 : 1)).reduce<number>(
                (sum, each) => sum + each,
                0,
              ),
            ).toBeLessThanOrEqual(columns)
        },
      ),
    )
  },
)

test.each([
  ["it's", "' is not closed"],
  ['"x', '" is not closed'],
  ["$'x", "$' is not closed"],
  ['x\\', '\\ is not closed'],
  ['   ', 'there are no words'],
  ["$'a\\x00b'", 'no program can be given a NUL'],
])('%j is not a list of words', (text, problem) => {
  expect(readWords(text)).toEqual({ kind: 'problem', problem })
})

test('nothing is expanded: shell syntax is text', () => {
  expect(readWords('echo $HOME *.c `x` a|b "$(y)" ~')).toEqual({
    kind: 'words',
    words: ['echo', '$HOME', '*.c', '`x`', 'a|b', '$(y)', '~'],
  })
})

test('a shown text cannot be a command for the runner of a job, and other brackets stay', () => {
  expect(visible('x ##[error]y ###[group]')).toBe('x #\\x23[error]y ##\\x23[group]')
  expect(visible('# [a] #[b] ## c')).toBe('# [a] #[b] ## c')
})
