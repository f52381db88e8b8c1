import { randomBytes } from 'node:crypto'

import { describe, expect, it } from 'vitest'

import { openText, sealText } from '../../src/gate/index.js'

const FORM = 'cordon-test-1'

describe('a sealed text', () => {
  const key = randomBytes(32)
  const value = { tool: 'tool', uses: [1, 2] }

  it('opens to the same value', () => {
    expect(openText(FORM, sealText(FORM, value, key), key)).toEqual({ kind: 'value', value })
  })

  it('is refused with another key, of another form, changed or cut short', () => {
    const sealed = sealText(FORM, value, key)
    const [form = '', payload = '', signature = ''] = sealed.split('.')
    const changed = Buffer.from(
      Buffer.from(payload, 'base64url').toString().replace('"tool":"tool"', '"tool":"bash"'),
    ).toString('base64url')
    expect(openText(FORM, sealed, randomBytes(32))).toMatchObject({ problem: 'forged' })
    expect(openText(FORM, `${form}.${changed}.${signature}`, key)).toMatchObject({ problem: 'forged' })
    expect(openText(FORM, `${form}.${payload}.`, key)).toMatchObject({ problem: 'forged' })
    expect(openText(FORM, `${form}.${payload}.${signature.slice(0, -4)}`, key)).toMatchObject({ problem: 'forged' })
    for (const text of ['', 'x', `${sealed}.x`, `other.${payload}.${signature}`])
      expect(openText(FORM, text, key)).toMatchObject({ problem: 'malformed' })
  })

  it('needs a key of at least 32 bytes', () => {
    expect(() => sealText(FORM, value, new Uint8Array(8))).toThrow(RangeError)
  })
})
