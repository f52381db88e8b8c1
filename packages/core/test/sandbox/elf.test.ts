import { execFileSync, spawnSync } from 'node:child_process'
import { closeSync, ftruncateSync, openSync, readFileSync, writeFileSync } from 'node:fs'

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { readElfNeeds } from '../../src/sandbox/grants/elf.js'
import { needs } from '../../../../test/requirement.js'

import { newFolder } from './tree.js'

const HAS_COMPILER = spawnSync('cc', ['--version']).status === 0

const compile = (folder: string, ...flags: readonly string[]): string => {
  const output = `${folder}/program`
  writeFileSync(
    `${folder}/main.c`,
    '#include <math.h>\nint main(int count, char **words) { (void)words; return (int)sin(count); }\n',
  )
  execFileSync('cc', ['-O0', `${folder}/main.c`, '-o', output, ...flags])
  return output
}

describe('the needs of a program', () => {
  it('are its interpreter, its libraries, and where it looks for them first', (context) => {
    needs(context, HAS_COMPILER, 'cc is missing; apt-get install gcc libc6-dev')
    const found = readElfNeeds(compile(newFolder(), '-lm', '-Wl,-rpath,$ORIGIN/lib:/opt/lib'))
    expect(found?.interpreter).toMatch(/^\/lib.*\/ld-/)
    expect([...(found?.libraries ?? [])].sort()).toEqual(['libc.so.6', 'libm.so.6'])
    expect(found?.searchPaths).toEqual(['$ORIGIN/lib', '/opt/lib'])
  })

  it('are empty if it is statically linked', (context) => {
    needs(context, HAS_COMPILER, 'cc is missing; apt-get install gcc libc6-dev')
    expect(readElfNeeds(compile(newFolder(), '-static', '-lm'))).toEqual({
      interpreter: undefined,
      libraries: [],
      searchPaths: [],
    })
  })

  it('are unknown for a file that is not such a program', () => {
    const file = `${newFolder()}/f`
    for (const text of ['', '#!/bin/sh\n', '\x7fELF', `\x7fELF\x01\x01${'\0'.repeat(60)}`]) {
      writeFileSync(file, text, 'latin1')
      expect(readElfNeeds(file)).toBeUndefined()
    }
  })

  it('are read from any damaged file without a failure', () => {
    const file = `${newFolder()}/f`
    const whole = readFileSync(process.execPath).subarray(0, 8192)
    const change = fc.record({ at: fc.nat({ max: 1023 }), byte: fc.nat({ max: 255 }) })
    fc.assert(
      fc.property(fc.array(change, { maxLength: 8 }), fc.nat({ max: whole.length }), (changes, length) => {
        const bytes = Buffer.from(whole)
        for (const { at, byte } of changes) bytes[at] = byte
        writeFileSync(file, bytes)
        const open = openSync(file, 'r+')
        ftruncateSync(open, length)
        closeSync(open)
        expect(() => readElfNeeds(file)).not.toThrow()
      }),
    )
  })
})
