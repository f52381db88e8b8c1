// Options of createCordon that concern all tools of an agent are in the manifest, and compared.
import { describe, expect, it } from 'vitest'

import type { ManifestAgent } from 'cordon/manifest'

import { anAgent, findingsOf, hashNumber, manifestWith, wordsOf } from './manifests.js'
import { described, project } from './project-stage.js'

type Settings = NonNullable<ManifestAgent['settings']>

const between = (before: Settings, after: Settings): readonly (readonly [string, string])[] => {
  const given = (settings: Settings) => manifestWith(anAgent(Object.keys(settings).length === 0 ? {} : { settings }))
  return findingsOf(given(before), given(after)).map((finding) => [finding.id, wordsOf(finding)])
}

describe('a setting that is new, changed or gone is a finding, and the same one is none', () => {
  it.each<[Settings, Settings, string, string]>([
    [{}, { home: '/srv' }, 'tool.filesystem.read.widened', 'The home (~) is now /srv, was ~'],
    [{ home: '/srv' }, {}, 'tool.filesystem.read.widened', 'The home (~) is now ~, was /srv'],
    [
      {},
      { pins: { 'a.example': ['10.0.0.1'] } },
      'tool.network.widened',
      'The address of a.example is now 10.0.0.1, was what its name resolves to',
    ],
    [
      { pins: { 'a.example': ['10.0.0.1'] } },
      { pins: { 'a.example': ['10.0.0.2'] } },
      'tool.network.widened',
      'The address of a.example is now 10.0.0.2, was 10.0.0.1',
    ],
    [
      { pins: { 'a.example': ['10.0.0.1'] } },
      {},
      'tool.network.widened',
      'The address of a.example is now what its name resolves to, was 10.0.0.1',
    ],
    [
      { vault: 'https://vault.example' },
      { vault: 'https://evil.example' },
      'tool.network.widened',
      'The vault of credentials is now https://evil.example, was https://vault.example',
    ],
    [
      { vault: 'https://vault.example' },
      {},
      'tool.network.widened',
      'The vault of credentials is now that of the environment, was https://vault.example',
    ],
  ])('%j, then %j', (before, after, id, sentence) => {
    expect(between(before, after)).toEqual([[id, `${sentence}, for all tools of main`]])
    expect(between(after, after)).toEqual([])
  })
})

describe('a setting that weakens is a finding, and its opposite is none', () => {
  it.each<[Settings, Settings, string, string]>([
    [
      { authorities: [hashNumber(1)] },
      { authorities: [hashNumber(1), hashNumber(2)] },
      'tool.network.widened',
      `Servers with certificates of ${hashNumber(2)} are now trusted`,
    ],
    [{}, { form: 'landlock' }, 'tool.kind.weakened', 'The form of the sandbox is now landlock, was auto'],
    [{ form: 'namespaces' }, {}, 'tool.kind.weakened', 'The form of the sandbox is now auto, was namespaces'],
    [
      {},
      { launcher: './launcher' },
      'tool.kind.weakened',
      'The launcher of the sandbox is now ./launcher, was that of Cordon',
    ],
  ])('%j, then %j', (before, after, id, sentence) => {
    expect(between(before, after)).toEqual([[id, `${sentence}, for all tools of main`]])
    expect(between(after, before)).toEqual([])
  })
})

describe('a manifest', () => {
  const settingsOf = (options: string) => {
    const entry = `import { rootCertificates } from 'node:tls'
import { createCordon } from 'cordon'
await createCordon({ workspace: process.cwd(), tools: [], ${options} })\n`
    return described(project({ 'a.mjs': entry }), ['--entry', 'a.mjs']).agents[0]?.settings
  }

  it('has the settings of createCordon with portable paths, and neither a token nor a password', () => {
    const vault = `{ address: 'https://ann:secret@vault.example:8200', token: 'top-secret' }`
    const egress = `egress: { pins: { 'A.example': ['10.0.0.2', '10.0.0.1'] }, authorities: [rootCertificates[0]], vault: ${vault} }`
    const sandbox = `sandbox: { form: 'landlock', launcher: process.cwd() + '/launcher' }`
    expect(settingsOf(`home: process.cwd() + '/home', ${egress}, ${sandbox}`)).toEqual({
      home: './home',
      pins: { 'a.example': ['10.0.0.1', '10.0.0.2'] },
      authorities: [expect.stringMatching(/^sha256:/)],
      vault: 'https://vault.example:8200',
      form: 'landlock',
      launcher: './launcher',
    })
  })

  it('of an agent with the defaults has none', () => {
    expect(settingsOf(`egress: {}, sandbox: { form: 'auto' }`)).toBeUndefined()
  })
})
