import { mkdirSync, writeFileSync } from 'node:fs'

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { bytesOfName, entriesIn, pathFor, textOfName } from '../../src/sandbox/grants/file-names.js'

import { newFolder } from './tree.js'

const bytes = fc.uint8Array({ maxLength: 40 }).map((array) => Buffer.from(array))
// Mostly bytes beyond ASCII, where characters begin, go on, and are cut.
const odd = fc
  .array(
    fc.constantFrom(
      0x61,
      0x7f,
      0x80,
      0xbf,
      0xc3,
      0xa9,
      0xed,
      0xb2,
      0xa0,
      0xe2,
      0x82,
      0xac,
      0xf0,
      0x9f,
      0x98,
      0x80,
      0xef,
      0xbf,
      0xbd,
      0xbb,
      0xff,
    ),
    { maxLength: 20 },
  )
  .map((array) => Buffer.from(array))

describe('a file name', () => {
  it('of any bytes becomes a text and the same bytes again', () => {
    fc.assert(
      fc.property(fc.oneof(bytes, odd), (name) => {
        expect(bytesOfName(textOfName(name))).toEqual(name)
      }),
      { numRuns: 1000 },
    )
  })

  it('keeps its bytes in a path that is joined as text', () => {
    fc.assert(
      fc.property(odd, odd, (left, right) => {
        expect(bytesOfName(`${textOfName(left)}/${textOfName(right)}`)).toEqual(
          Buffer.concat([left, Buffer.from('/'), right]),
        )
      }),
    )
  })

  it('in UTF-8 is the usual text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(textOfName(Buffer.from(text))).toBe(text)
        expect(pathFor(text)).toBe(text)
      }),
    )
  })

  it('never equals the text of another name', () => {
    fc.assert(
      fc.property(odd, odd, (left, right) => {
        expect(textOfName(left) === textOfName(right)).toBe(left.equals(right))
      }),
    )
  })

  it('of any bytes can be listed and opened', () => {
    const folder = newFolder()
    const names = [
      Buffer.from('plain'),
      Buffer.from([0xff, 0x61]),
      Buffer.from('replacement \ufffd'),
      Buffer.from([0xc3]),
    ]
    mkdirSync(`${folder}/sub`)
    for (const name of names) writeFileSync(Buffer.concat([Buffer.from(`${folder}/`), name]), 'x')
    const entries = entriesIn(folder)
    expect(entries.map(({ name }) => name).sort()).toEqual(['sub', ...names.map(textOfName)].sort())
    for (const { name, entry } of entries) {
      if (entry.isFile())
        expect(() => {
          writeFileSync(pathFor(`${folder}/${name}`), 'y', { flag: 'r+' })
        }).not.toThrow()
    }
  })
})
