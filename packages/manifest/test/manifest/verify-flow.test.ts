// What verify says of agents that can be made to send private data.
import { expect, test } from 'vitest'

import { compareManifests } from '../../src/verify/compare-manifests.js'

import { agentOf, manifestWith, toolOf } from './agents.js'

const files = toolOf('files', { filesystem: { read: ['docs'] } }, { code: `sha256:${'1'.repeat(64)}` })
const fetcher = toolOf('fetch', { network: ['api.test'] }, { code: `sha256:${'2'.repeat(64)}` })
const asking = { ...fetcher, approval: 'ask' } as const
const before = manifestWith([agentOf('main', [files, fetcher])])

const flowsIn = (from: typeof before, to: typeof before) =>
  compareManifests(from, to).filter(({ id }) => id === 'flow.exfiltration')

test('a path that is there already is silent, also under other names', () => {
  expect(flowsIn(before, before)).toEqual([])
  expect(flowsIn(before, manifestWith([agentOf('helper', [files, fetcher])]))).toEqual([])
  const tools = [
    { ...files, name: 'look' },
    { ...fetcher, name: 'get' },
  ]
  expect(flowsIn(before, manifestWith([agentOf('main', tools)]))).toEqual([])
})

test('an agent that gets a path has one finding', () => {
  const alone = manifestWith([agentOf('main', [files])])
  expect(flowsIn(alone, before)).toMatchObject([{ agent: 'main', severity: 'error' }])
  expect(flowsIn(before, alone)).toEqual([])
})

test('an approval that is dropped gives a path', () => {
  expect(flowsIn(manifestWith([agentOf('main', [files, asking])]), before)).toHaveLength(1)
})

test('a tag that is removed gives a path, and one that is added gives only itself', () => {
  const tagged = manifestWith([agentOf('main', [files, fetcher])], { own: ['api.test'] })
  expect(compareManifests(tagged, before).map(({ id }) => id)).toEqual(['flow.exfiltration'])
  expect(compareManifests(before, tagged).map(({ id }) => id)).toEqual(['tag.added'])
})

test('another sink of an agent that has a path is a finding, with a fingerprint of its own', () => {
  const more = manifestWith([agentOf('main', [files, fetcher, { ...fetcher, name: 'post' }])])
  const most = manifestWith([
    agentOf('main', [files, fetcher, { ...fetcher, name: 'post' }, { ...fetcher, name: 'put' }]),
  ])
  const [first] = flowsIn(before, more)
  const [second] = flowsIn(before, most)
  expect(first?.fingerprint).toMatch(/\w/)
  expect(second?.fingerprint).not.toBe(first?.fingerprint)
})
