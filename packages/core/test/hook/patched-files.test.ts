// The files that the hook finds in a patch. Codex trims lines as Rust does, opencode as JavaScript does.
import { describe, expect, test } from 'vitest'

import { patchedFiles } from '../../src/hook/patched-files.js'

const filesOf = (...lines: readonly string[]) =>
  patchedFiles(['*** Begin Patch', '*** Add File: ok', '+x', ...lines, '*** End Patch'].join('\n'), 'codex')
const blocked = expect.objectContaining({ code: 'hook-input-unreadable' }) as Error

const BLANKS = ['\u00a0', '\v', '\f', '\r', '\0', '\u0085', '\u1680', '\u2003', '\u2028', '\u2029', '\u3000', '\ufeff']

describe('a patch', () => {
  test.each(BLANKS)('cannot hide a file behind %j, which some programs trim', (blank) => {
    for (const line of [
      `${blank}*** Add File: /x`,
      ` ${blank} *** Delete File: /x`,
      `*** Update File: /x${blank}${blank}`,
      `*** Move to:${blank}/x`,
    ])
      expect(() => filesOf(line)).toThrow(blocked)
  })

  test.each([
    '***  Add File: /x',
    '*** add file: /x',
    '*** Rename to: /x',
    '\t***',
    'x *** Add File: /x',
    '*** Add File: ',
  ])('with the line %j, which is neither a known marker nor content, is blocked', (line) => {
    expect(() => filesOf(line)).toThrow(blocked)
  })

  test('that names no file is blocked', () => {
    expect(() => patchedFiles('*** Begin Patch\n+*** Add File: x\n*** End Patch', 'codex')).toThrow(blocked)
  })

  test('names the files of all its markers, with and without the blanks around a path', () => {
    const found = filesOf('  *** Update File: a b\r', '*** Move to:  c ', '\t*** Delete File:d', '*** End of File')
    expect(found).toMatchObject({ read: [], write: ['ok', 'a b', ' c ', 'c', 'd'] })
  })

  test('may have asterisks and unusual blanks in its content', () => {
    const content = ['@@ ***', ' *** note ***', '  \u00a0***', '-***', '+\u00a0*** Add File: /x', ' a\u2028b', '', '\r']
    expect(filesOf(...content)).toMatchObject({ write: ['ok'] })
  })
})
