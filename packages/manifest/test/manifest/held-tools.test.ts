// The tools of a runtime are held against its manifest, and the mode in which nothing runs.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { afterEach, describe, expect, test } from 'vitest'

import { manifestJson, manifestOf } from 'cordon/manifest'
import type { Manifest } from 'cordon/manifest'
import { describeAgent } from '../../../core/src/runtime/describe/index.js'
import { containerTool, createCordon, processTool, tool } from 'cordon'
import type { CordonEvent, CordonOptions, ToolDefinition } from 'cordon'

import { KEY } from './manifests.js'
import { temporaryFolder } from './project-stage.js'

const DESCRIBING = Symbol.for('cordon.describing')
const one = tool({ name: 'one', policy: { filesystem: { read: ['./docs/**'] } }, run: () => 1 })
const NO_TAGS = { public: [], trusted: [], own: [] }

afterEach(() => {
  Reflect.deleteProperty(globalThis, DESCRIBING)
})

/** The manifest of these tools, as another machine wrote it. */
const reviewed = (tools: readonly ToolDefinition[], more: Partial<CordonOptions> = {}): Manifest => {
  const places = { project: '/srv/shop', home: '/home/ann', key: KEY, tools: [] }
  const agent = describeAgent({ tools, workspace: '/srv/shop', home: '/home/ann', ...more }, places)
  return manifestOf({ agents: [{ ...agent, name: agent.name === '' ? 'agents/main' : agent.name }], tags: NO_TAGS })
}

const fileOf = (manifest: Manifest): string => {
  const folder = temporaryFolder()
  const file = join(folder, 'cordon.manifest.json')
  mkdirSync(join(folder, '.cordon'))
  writeFileSync(join(folder, '.cordon', 'manifest.key'), `${KEY}\n`)
  writeFileSync(file, manifestJson(manifest))
  return file
}

type Given = Omit<CordonOptions, 'workspace'>

const workspaceWithDocs = (): string => {
  const folder = temporaryFolder()
  mkdirSync(join(folder, 'docs'))
  return folder
}

const opened = (options: Given) => createCordon({ workspace: workspaceWithDocs(), home: '/home/bob', ...options })

const refusal = async (options: Given): Promise<string> => {
  try {
    const cordon = await opened(options)
    await cordon.close()
  } catch (error) {
    expect(error).toMatchObject({ code: 'manifest-exceeded' })
    return (error as Error).message
  }
  return 'it was not refused'
}

const accepted = async (options: Given): Promise<void> => {
  await (await opened(options)).close()
}

const read = (...paths: readonly string[]) =>
  tool({ name: 'one', policy: { filesystem: { read: [...paths] } }, run: () => 1 })

describe('a tool within the manifest of another machine', () => {
  test('runs, and every event and its facts say so', async () => {
    const manifest = reviewed([one])
    const file = fileOf(manifest)
    const events: CordonEvent[] = []
    await using cordon = await opened({ tools: [one], manifest: file, onEvent: (event) => void events.push(event) })
    const { status, facts } = await cordon.call('one')
    const verdict = { name: file, hash: manifest.hash, verdict: 'within', differences: [] }
    expect({ status, manifest: facts.manifest }).toEqual({ status: 'ok', manifest: verdict })
    expect(new Set(events.map(({ context }) => context?.manifest_hash))).toEqual(new Set([manifest.hash]))
    expect(events.find(({ type }) => type === 'permission.evaluated')).toMatchObject({ manifest: verdict })
  })

  test('may have less than it says', async () => {
    await accepted({ tools: [read('./docs/a.txt')], manifest: fileOf(reviewed([one])) })
  })

  test('may be named by its parsed content', async () => {
    const content = JSON.parse(manifestJson(reviewed([one]))) as unknown
    await accepted({ tools: [one], manifest: { content } })
    expect(await refusal({ tools: [read('./**')], manifest: { content } })).toContain('can now read')
  })

  test('may have the same value of a variable, and its paths at other places', async () => {
    const withPlace = (root: string, home: string) =>
      tool({ name: 'one', policy: { environment: [`PLACE=${root}/x`, `H=${home}/y`, 'PIN=1234'] }, run: () => 1 })
    const workspace = temporaryFolder()
    const manifest = fileOf(reviewed([withPlace('/srv/shop', '/home/ann')]))
    const options = { workspace, home: '/home/bob', manifest }
    await (await createCordon({ ...options, tools: [withPlace(workspace, '/home/bob')] })).close()
    await expect(createCordon({ ...options, tools: [withPlace('/elsewhere', '/home/bob')] })).rejects.toMatchObject({
      code: 'manifest-exceeded',
      message: expect.stringContaining('PLACE') as string,
    })
  })
})

describe('what is not within is refused with the difference', () => {
  const manifest = fileOf(reviewed([one, tool({ name: 'two', run: () => 2 })]))

  test('a policy that depends on a variable', async () => {
    expect(await refusal({ tools: [read('./docs/**', '/etc/**')], manifest })).toContain('can now read /etc')
  })

  test('a tool that is not listed', async () => {
    const other = tool({ name: 'other', run: () => 1 })
    expect(await refusal({ tools: [one, other], manifest })).toContain('the tool "other" is beyond')
  })

  test('a tool of another kind', async () => {
    const loose = tool({ name: 'one', run: () => 1, inProcess: true })
    expect(await refusal({ tools: [loose], manifest })).toContain("the agent's own process")
  })

  test('a tool that is added later, and a listed one is not', async () => {
    await using cordon = await opened({ tools: [one], manifest })
    await expect(cordon.addTool(tool({ name: 'other', run: () => 1 }))).rejects.toMatchObject({
      code: 'manifest-exceeded',
    })
    await cordon.addTool(tool({ name: 'two', run: () => 2 }))
    expect(cordon.listTools().map(({ name }) => name)).toEqual(['one', 'two'])
  })

  test('another value of a variable, which the message does not tell', async () => {
    const pin = (value: string) => tool({ name: 'one', policy: { environment: [`PIN=${value}`] }, run: () => 1 })
    const held = fileOf(reviewed([pin('1234')]))
    await accepted({ tools: [pin('1234')], manifest: held })
    const message = await refusal({ tools: [pin('5678')], manifest: held })
    expect(message).toContain('PIN')
    expect(message).not.toContain('5678')
  })

  test('another image, another command line, and constraints that are gone', async () => {
    const box = (image: string) => containerTool({ name: 'box', image, command: () => ['cat', '/etc/os-release'] })
    const boxes = fileOf(reviewed([box('alpine:3.20')]))
    expect(await refusal({ tools: [box('evil:1')], manifest: boxes })).toContain('evil:1')
    const git = processTool({ name: 'git', command: () => ['git', 'log'], constraints: { maxInvocations: 2 } })
    const held = fileOf(reviewed([git]))
    await accepted({ tools: [git], manifest: held })
    const push = processTool({ name: 'git', command: () => ['git', 'push'], constraints: { maxInvocations: 2 } })
    expect(await refusal({ tools: [push], manifest: held })).toContain('git push')
    const often = processTool({ name: 'git', command: () => ['git', 'log'] })
    expect(await refusal({ tools: [often], manifest: held })).toContain('any number of times')
  })

  test('a tool of another agent, if the agent is named', async () => {
    const [of, other] = ['support', 'ops'].map((agent) =>
      reviewed([agent === 'ops' ? read('/srv/**') : one], { context: { agent } }),
    )
    const both = fileOf(manifestOf({ agents: [...(of?.agents ?? []), ...(other?.agents ?? [])], tags: NO_TAGS }))
    await accepted({ tools: [one], manifest: both, context: { agent: 'support' } })
    await accepted({ tools: [read('/srv/**')], manifest: both, context: { agent: 'ops' } })
    expect(await refusal({ tools: [read('/srv/**')], manifest: both, context: { agent: 'support' } })).toContain('/srv')
    expect(await refusal({ tools: [one], manifest: both, context: { agent: 'none' } })).toContain('no agent "none"')
  })

  test('a workspace that holds the home', async () => {
    const options = { tools: [one], manifest, home: '/home/bob' }
    await expect(createCordon({ ...options, workspace: '/home' })).rejects.toMatchObject({ code: 'manifest-exceeded' })
  })

  test('a program without a sandbox', async () => {
    const git = processTool({ name: 'git', command: () => ['true'] })
    await using cordon = await opened({
      tools: [git],
      manifest: fileOf(reviewed([git])),
      approve: () => ({ kind: 'approve_once', by: 'ann' }),
    })
    await expect(cordon.runUnconfined('git', {})).rejects.toMatchObject({ code: 'manifest-exceeded' })
  })
})

test('with enforce: false a tool beyond the manifest runs, and its facts say what is beyond', async () => {
  const file = fileOf(reviewed([one]))
  await using cordon = await opened({ tools: [read('./**')], manifest: { file, enforce: false } })
  const { status, facts } = await cordon.call('one')
  expect(status).toBe('ok')
  expect(facts.manifest).toMatchObject({ verdict: 'beyond', differences: [expect.stringContaining('can now read')] })
})

describe('a manifest is refused', () => {
  const invalid = { code: 'manifest-invalid' }

  test('that was altered, or is not there', async () => {
    await expect(opened({ tools: [one], manifest: '/nowhere/cordon.manifest.json' })).rejects.toMatchObject({
      code: 'manifest-unreadable',
      message: expect.stringContaining('there is no such file') as string,
    })
    const altered = fileOf({ ...reviewed([one]), tags: { ...NO_TAGS, public: ['.'] } })
    await expect(opened({ tools: [one], manifest: altered })).rejects.toMatchObject(invalid)
  })

  test('that is only a hash, as an option or in the context', async () => {
    const { hash } = reviewed([one])
    await expect(opened({ tools: [one], manifest: hash })).rejects.toMatchObject(invalid)
    const context = { agent: 'a', manifest_hash: hash }
    await expect(opened({ tools: [one], context })).rejects.toThrow('manifest_hash')
  })

  test('whose key is missing, if it has hashes of it', async () => {
    const manifest = reviewed([tool({ name: 'one', policy: { environment: ['PIN=1'] }, run: () => 1 })])
    const file = join(temporaryFolder(), 'm.json')
    writeFileSync(file, manifestJson(manifest))
    const tools = [tool({ name: 'one', policy: { environment: ['PIN=1'] }, run: () => 1 })]
    await expect(opened({ tools, manifest: file })).rejects.toMatchObject({ code: 'manifest-key-missing' })
    const key = join(dirname(fileOf(manifest)), '.cordon', 'manifest.key')
    await accepted({ tools, manifest: { file, key } })
  })
})

test('a tool can neither change the manifest that it is held against nor read its key', async () => {
  const wide = processTool({
    name: 'wide',
    policy: { presets: ['system'], filesystem: { read: ['./**'], write: ['./**'] } },
    command: () => ['sh', '-c', 'echo x >> a.txt; echo x >> cordon.manifest.json; cat .cordon/manifest.key'],
    successes: [0, 1],
  })
  const file = fileOf(reviewed([wide]))
  await using cordon = await createCordon({
    workspace: dirname(file),
    home: '/home/bob',
    tools: [wide],
    manifest: file,
    mode: 'bypass',
  })
  const { output } = await cordon.call('wide')
  expect(JSON.stringify(output)).toMatch(/cordon\.manifest\.json: (?:Read-only|Permission|cannot)/)
  expect(JSON.stringify(output)).not.toContain(KEY)
})

test('outside of a description createCordon runs calls, whatever else has that name', async () => {
  ;(globalThis as Record<symbol, unknown>)[DESCRIBING] = { form: 'something else' }
  await using cordon = await createCordon({ workspace: workspaceWithDocs(), tools: [one] })
  expect((await cordon.call('one')).status).toBe('ok')
})

test('a runtime that only describes refuses every way to run a tool', async () => {
  const description = { form: 'cordon-describe/2', project: '/', home: '/', key: KEY, entry: '', agents: [], tools: [] }
  ;(globalThis as Record<symbol, unknown>)[DESCRIBING] = description
  const cordon = await createCordon({ workspace: temporaryFolder(), tools: [one], mode: 'bypass' })
  expect(description.agents).toHaveLength(1)
  const refused = { code: 'only-described' }
  await expect(cordon.call('one')).rejects.toMatchObject(refused)
  await expect(cordon.callFromModel({ name: 'one', arguments: '{}' })).rejects.toMatchObject(refused)
  await expect(cordon.resume('ticket')).rejects.toMatchObject(refused)
  await expect(cordon.prewarm('one')).rejects.toMatchObject(refused)
  expect(() => cordon.callStream('one')).toThrow(expect.objectContaining(refused) as Error)
  expect(cordon.listTools().map(({ name }) => name)).toEqual(['one'])
})
