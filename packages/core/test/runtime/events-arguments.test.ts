import { describe, expect, it } from 'vitest'

import { hashOf } from '../../src/gate/index.js'
import { recordArguments } from '../../src/runtime/index.js'
import { redactText } from '../../src/runtime/events/redact.js'

describe('arguments in a record', () => {
  const input = {
    path: '/data/a',
    password: 'hunter2',
    nested: [{ api_key: 'k', note: 'see sk-abcdefghijklmnopqrstuv' }],
  }

  it('are only a hash, the same as in decision and permit', () => {
    const recorded = recordArguments(input)
    expect(recorded.hash).toBe(hashOf(input))
    expect(Object.keys(recorded)).toEqual(['hash', 'bytes'])
  })

  it('are a text without secrets if the host wants one', () => {
    const { text } = recordArguments(input, { arguments: 'redacted' })
    expect(JSON.parse(text ?? '')).toEqual({
      path: '/data/a',
      password: '[redacted]',
      nested: [{ api_key: '[redacted]', note: 'see [redacted]' }],
    })
  })

  it('are cut short, and the host has the last word', () => {
    const { text = '' } = recordArguments(
      { long: 'x'.repeat(1_000_000), name: 'Alice' },
      { arguments: 'redacted', redact: (given) => given.replace('Alice', '…') },
    )
    expect(text.length).toBeLessThan(5000)
    expect(text).not.toContain('Alice')
  })
})

describe('the record removes possible secrets', () => {
  it.each([
    ['ghp_abcdefghijklmnopqrstuvwxyz0123456789', '[redacted]'],
    ['key AKIAIOSFODNN7EXAMPLE here', 'key [redacted] here'],
    ['token=abcdef123&x=1', 'token=[redacted]&x=1'],
    ['--password hunter22 -v', '--password [redacted] -v'],
    ['postgres://u:p4ss@db/x', 'postgres://u:[redacted]@db/x'],
    ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc', '[redacted]'],
    ['-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----', '[redacted]'],
  ])('from %j', (text, expected) => {
    expect(redactText(text)).toBe(expected)
  })

  it.each([
    'the mode default lets it run',
    '/home/a/tokens/file.txt',
    'https://example.org/a?b=c',
    'password',
    'sha256:0123',
  ])('but leaves %j unchanged', (text) => {
    expect(redactText(text)).toBe(text)
  })

  it('in linear time', () => {
    expect(redactText(`${'://'.repeat(50_000)}token`).length).toBeGreaterThan(100_000)
    expect(redactText(`${'a:'.repeat(50_000)}://`).length).toBeGreaterThan(100_000)
  })
})
