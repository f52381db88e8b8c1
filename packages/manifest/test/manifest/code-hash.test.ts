import { runInThisContext } from 'node:vm'

import { describe, expect, test } from 'vitest'

import { codeHash } from '../../../core/src/runtime/tool-identity/tool-code.js'
import { processTool, tool } from 'cordon'

const hashOf = (source: string): string | undefined =>
  codeHash(tool({ name: 'one', run: runInThisContext(source) as () => unknown }))

describe('the hash of the code', () => {
  const ONE = `(input) => { const a = [1, 2]; return a.map((x) => x + input.n) }`

  test.each([
    ['blanks and ends of lines', `(input) => {\n  const a = [1,2]\n  return a.map((x) => x+input.n)\n}`],
    ['comments', `(input) => { /* add */ const a = [1, 2]; return a.map((x) => x + input.n) // done\n }`],
    ['semicolons and commas', `(input) => { const a = [1, 2,]; return a.map((x,) => x + input.n); }`],
    ['blanked types', `(input          ) => { const a         = [1, 2]; return a.map((x   )    => x + input.n) }`],
    ['needless parentheses', `(input) => { const a = [1, 2]; return (a).map((x) => (x + input.n)) }`],
  ])('stays with other %s', (_, source) => {
    expect(hashOf(source)).toBe(hashOf(ONE))
  })

  test.each([
    ['number', ONE.replace('2', '3')],
    ['name', ONE.replaceAll('x', 'y')],
    ['operator', ONE.replace('+', '-')],
    ['raw template', ONE.replace('[1, 2]', 'String.raw`\\u0061`')],
  ])('changes with another %s', (_, source) => {
    expect(hashOf(source)).not.toBe(hashOf(ONE))
  })

  test('tells raw templates of one cooked text apart', () => {
    expect(hashOf('() => String.raw`\\u0061`')).not.toBe(hashOf('() => String.raw`a`'))
  })

  test('is not known for code with variables of its module, and for code of this process', () => {
    const words = ['ls']
    expect(codeHash(processTool({ name: 'ls', command: () => words }))).toBeUndefined()
    expect(codeHash(processTool({ name: 'ls', command: () => ['ls'] }))).toMatch(/^sha256:/)
    expect(codeHash(tool({ name: 'here', inProcess: true, run: () => 1 }))).toBeUndefined()
  })
})
