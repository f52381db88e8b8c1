// What runs: the image and the runtime of a container, and a command line.
import { describe, expect, test } from 'vitest'

import type { ManifestTool } from 'cordon/manifest'

import { aTool, anAgent, findingsOf, manifestWith, wordsOf } from './manifests.js'

const DIGEST = `sha256:${'a'.repeat(64)}`
const OTHER = `sha256:${'b'.repeat(64)}`

const found = (before: Partial<ManifestTool>, after: Partial<ManifestTool>): readonly string[] => {
  const whole = (more: Partial<ManifestTool>) =>
    manifestWith(anAgent({ tools: [aTool({}, { kind: 'process', ...more })] }))
  return findingsOf(whole(before), whole(after)).map((finding) => `${finding.id}: ${wordsOf(finding)}`)
}

const image = (name: string, digest: string | null = null, runtime?: string): Partial<ManifestTool> => ({
  kind: 'container',
  container: { image: name, digest, ...(runtime === undefined ? {} : { runtime }) },
})

describe('a finding of its own', () => {
  test.each([
    ['another image', image('alpine:3.20'), image('evil:1'), 'evil:1'],
    ['another digest of the same tag', image('a:1', DIGEST), image('a:1', OTHER), OTHER],
    ['a digest that is dropped', image('a:1', DIGEST), image('a:1'), 'now runs in the container image a:1, was'],
    ['another runtime', image('a:1', DIGEST, 'runsc'), image('a:1', DIGEST), 'is now that of the engine, was runsc'],
    ['a container instead of a cell of the host', {}, image('a:1'), 'was no container'],
    ['a cell of the host instead of a container', image('a:1'), {}, 'now runs in no container'],
    ['another command line', { command: ['git', 'log'] }, { command: ['git', 'push'] }, 'is now git push, was git log'],
    ['a word that a call gives', { command: ['cat', 'a'] }, { command: ['cat', null] }, 'is now cat …, was cat a'],
    ['a computed command line', { command: ['cat', 'a'] }, {}, 'is now computed by its code'],
  ])('has %s', (_, before, after, words) => {
    const [only = '', ...others] = found(before, after)
    expect(only).toMatch(/^tool\.program\.changed: /)
    expect(only).toContain(words)
    expect(others).toEqual([])
  })
})

test.each([
  ['the same image', image('a:1', DIGEST, 'runsc'), image('a:1', DIGEST, 'runsc')],
  ['a digest that is added', image('a:1'), image('a:1', DIGEST)],
  ['the same command line', { command: ['git', 'log'] }, { command: ['git', 'log'] }],
  ['a command line that is known now', {}, { command: ['git', 'log'] }],
])('%s is silent', (_, before, after) => {
  expect(found(before, after)).toEqual([])
})
