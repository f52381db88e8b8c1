// `cordon manifest generate` on real projects, in real cells.
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { IN_MATRIX } from '../../../../test/turns.js'
import { readManifest } from 'cordon/manifest'
import type { ManifestAgent } from 'cordon/manifest'

import { cordon } from '../../../core/test/cli/cordon.js'

import { described, generate, project, temporaryFolder, whole } from './project-stage.js'

const HASH = expect.stringMatching(/^sha256:[0-9a-f]{64}$/) as unknown as string
const agentNamed = (agents: readonly ManifestAgent[], name: string): ManifestAgent =>
  agents.find((each) => each.name === name) ?? expect.fail(`there is no agent ${name}`)
const toolNamed = ({ tools }: ManifestAgent, name: string) =>
  tools.find((each) => each.name === name) ?? expect.fail(`there is no tool ${name}`)

describe('the manifest of a project in TypeScript', () => {
  const folder = whole()
  const { agents, tags } = described(folder)

  test('has the agents of createCordon, of the configuration, and cordon run, in the order of their names', () => {
    expect(agents.map(({ name }) => name)).toEqual(['cordon run', 'finder', 'support'])
    expect(tags).toEqual({ public: ['./docs/**'], trusted: [], own: ['*.example.com'] })
  })

  test('has policies with paths from the workspace and the home, and no value of a variable', () => {
    const bash = toolNamed(agentNamed(agents, 'support'), 'bash')
    expect(bash).toMatchObject({ kind: 'process', approval: 'ask', source: 'agents/support.ts:18' })
    expect(bash.policy).toEqual({
      filesystem: { read: ['./data/**', '~/notes'] },
      environment: [expect.stringMatching(/^LANG=hmac-sha256:/), expect.stringMatching(/^PLACE=hmac-sha256:/)],
    })
  })

  test('has hashes of the code and of the schema of a tool, and its place', () => {
    expect(toolNamed(agentNamed(agents, 'support'), 'report')).toMatchObject({
      kind: 'function',
      code: HASH,
      input: HASH,
      source: 'agents/tools.ts:7',
    })
  })

  test('has rules, budget and the sources of credentials, without the arguments of a command', () => {
    const { rules, budget, credentials, mode } = agentNamed(agents, 'support')
    expect(rules.map(({ effect, conditions }) => ({ effect, conditions }))).toEqual(
      expect.arrayContaining([
        { effect: 'deny', conditions: { tool: ['bash'], paths: ['./secret/**'] } },
        { effect: 'ask', conditions: { tool: ['bash'] } },
      ]),
    )
    expect({ budget, mode }).toEqual({ budget: { tool_calls: 20 }, mode: 'default' })
    expect(credentials).toEqual({
      github: 'env:GITHUB_TOKEN',
      vault: expect.stringMatching(/^command:\/usr\/bin\/pass hmac-sha256:/) as unknown,
    })
  })

  test('has the MCP servers of an agent, with the pin of the lock and the policies of its tools', () => {
    const [files, ...others] = agentNamed(agents, 'finder').mcp_servers
    expect(others).toEqual([])
    expect(files).toMatchObject({
      name: 'files',
      command: ['npx', '-y', 'files-server', './data'],
      pin: HASH,
      tools: [{ name: 'read_*', kind: 'mcp', policy: { filesystem: { read: ['data/**'] } } }],
    })
    expect(agentNamed(agents, 'support').mcp_servers).toEqual([])
  })

  test('has policy files as tools of cordon run, with the rules of the project', () => {
    const run = agentNamed(agents, 'cordon run')
    expect(toolNamed(run, 'build')).toMatchObject({
      policy: { filesystem: { read: ['.'], write: ['dist/**'] } },
      source: '.cordon/policies/build.yaml',
    })
    expect(run.rules).toMatchObject([{ effect: 'deny', source: '.cordon/rules.yaml:1' }])
  })

  test('gives exported tools to the agent that the configuration names, and lists others as dynamic', () => {
    expect(agentNamed(agents, 'finder').tools.map(({ name }) => name)).toEqual(['search'])
    const dynamic = agents.flatMap((each) => each.dynamic)
    expect(dynamic).toEqual(['later (agents/tools.ts:19)'])
  })

  test('starts nothing: the audit log of the agent is not made', () => {
    expect(existsSync(join(folder, 'audit.jsonl'))).toBe(false)
  })

  test('contains no secret, and nothing of the place where it was made', () => {
    const { stdout } = generate(folder)
    for (const text of [folder, 'hunter-two', 'top-secret', '/var/empty', 'Z"']) expect(stdout).not.toContain(text)
  })
})

test(
  'two folders and two homes with one key give the same bytes, and a changed policy or key gives others',
  IN_MATRIX,
  () => {
    const one = whole()
    const home = temporaryFolder()
    const other = whole(join(home, 'deep', 'copy'))
    const key = (folder: string, digit: string) => {
      writeFileSync(join(folder, '.cordon', 'manifest.key'), `${digit.repeat(64)}\n`, { mode: 0o600 })
    }
    key(one, 'a')
    key(other, 'b')
    const bytes = generate(one).stdout
    expect(generate(other, [], home).stdout).not.toBe(bytes)
    key(other, 'a')
    expect(generate(other, [], home).stdout).toBe(bytes)
    writeFileSync(join(other, '.cordon/policies/build.yaml'), 'filesystem: { read: [.], write: [.] }\n')
    expect(generate(other, [], home).stdout).not.toBe(bytes)
  },
)

test('YAML is the same manifest', IN_MATRIX, () => {
  const folder = whole()
  const { stdout } = generate(folder, ['--format', 'yaml'])
  expect(stdout).toMatch(/^format: cordon-manifest\/2\nhash: /)
  expect(readManifest(stdout, 'stdout')).toEqual({ manifest: described(folder), problem: undefined })
})

describe('an entry', () => {
  const ONE = `import { tool } from 'cordon'\nexport const one = tool({ name: 'one', run: () => 1 })\n`

  test('without createCordon is an agent with its exported tools', () => {
    const { agents } = described(project({ 'tools.mjs': ONE }), ['--entry', 'tools.mjs'])
    expect(agents).toMatchObject([{ name: 'tools', tools: [{ name: 'one', source: 'tools.mjs:2' }], dynamic: [] }])
  })

  test('that adds a tool later has it as dynamic', () => {
    const entry = `import { createCordon, tool } from 'cordon'
const cordon = await createCordon({ workspace: process.cwd(), tools: [] })
await cordon.addTool(tool({ name: 'two', run: () => 2 }))\n`
    const { agents } = described(project({ 'a.mjs': entry }), ['--entry', 'a.mjs'])
    expect(agents).toMatchObject([{ name: 'a', tools: [], dynamic: ['two (a.mjs:3)'] }])
  })

  test('that adds a tool made on another line has the place where it is made', () => {
    const entry = `import { createCordon, tool } from 'cordon'
const cordon = await createCordon({ workspace: process.cwd(), tools: [] })
const two = tool({ name: 'two', run: () => 2 })
await cordon.addTool(two)\n`
    const { agents } = described(project({ 'a.mjs': entry }), ['--entry', 'a.mjs'])
    expect(agents).toMatchObject([{ name: 'a', tools: [], dynamic: ['two (a.mjs:3)'] }])
  })

  test('with a workspace in the project has paths from there', () => {
    const entry = `import { createCordon, tool } from 'cordon'
await createCordon({ workspace: process.cwd() + '/sub', tools: [
  tool({ name: 'one', policy: { filesystem: { read: [process.cwd() + '/data/**'] } }, run: () => 1 })] })\n`
    const { agents } = described(project({ 'a.mjs': entry }), ['--entry', 'a.mjs'])
    expect(agents).toMatchObject([
      { workspace: './sub', tools: [{ policy: { filesystem: { read: ['../data/**'] } } }] },
    ])
  })

  test('that grants /tmp has another policy than one that grants the home, however the home is named', () => {
    const readOf = (path: string) => {
      const entry = `import { homedir } from 'node:os'
import { createCordon, tool } from 'cordon'
await createCordon({ workspace: process.cwd(), tools: [
  tool({ name: 'one', policy: { filesystem: { read: [${path}] } }, run: () => 1 })] })\n`
      return described(project({ 'a.mjs': entry }), ['--entry', 'a.mjs']).agents[0]?.tools[0]?.policy
    }
    const home = { filesystem: { read: ['~/notes/**'] } }
    expect(readOf(`'~/notes/**'`)).toEqual(home)
    expect(readOf(`homedir() + '/notes/**'`)).toEqual(home)
    expect(readOf(`'/tmp/notes/**'`)).toEqual({ filesystem: { read: ['/tmp/notes/**'] } })
  })

  test('that calls a tool while it is loaded is refused, and one that lists its tools is not', () => {
    const entry = (use: string) => `import { createCordon, tool } from 'cordon'
const cordon = await createCordon({ workspace: process.cwd(), tools: [tool({ name: 'one', run: () => 1 })] })
${use}\n`
    const { status, stderr } = generate(project({ 'a.mjs': entry(`await cordon.call('one')`) }), ['--entry', 'a.mjs'])
    expect(status).toBe(3)
    expect(stderr).toContain('the project is only described here, so nothing runs')
    const listing = project({ 'a.mjs': entry(`if (cordon.listTools().length !== 1) throw new Error('none')`) })
    expect(generate(listing, ['--entry', 'a.mjs']).status).toBe(0)
  })

  test('with wrong options is refused with the error of createCordon', () => {
    const entry = `import { createCordon } from 'cordon'\nawait createCordon({ workspace: 'here', tools: [] })\n`
    const { status, stderr } = generate(project({ 'a.mjs': entry }), ['--entry', 'a.mjs'])
    expect(status).toBe(3)
    expect(stderr).toContain('createCordon: workspace must be')
  })
})

describe('wrong usage has the status 2', () => {
  test.each([
    ['no entry and no configuration', [], 'has no cordon.config.js'],
    ['an entry that is not there', ['--entry', 'none.mjs'], 'none.mjs'],
    ['an entry outside of the project', ['--entry', '/etc/passwd'], 'is outside of the project'],
    ['an unknown format', ['--entry', 'package.json', '--format', 'xml'], '--format xml'],
    ['a project that holds the home', ['--project', '/', '--entry', 'x'], 'holds your home'],
  ])('%s', (_, words, problem) => {
    const { status, stderr } = generate(project({}), words)
    expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining(problem) as string })
  })
})

describe('a configuration', () => {
  const SERVERS = '{ "mcpServers": { "files": { "command": "files-server" } } }'

  test('names only files of its project', () => {
    const folder = project({ '.mcp.json': SERVERS, 'cordon.config.json': '{ "mcp": [".mcp.json"] }' })
    expect(described(folder).agents).toMatchObject([{ name: '.mcp.json', mcp_servers: [{ name: 'files' }] }])
    const outside = join(temporaryFolder(), 'mcp.json')
    writeFileSync(outside, SERVERS)
    writeFileSync(join(folder, 'cordon.config.json'), JSON.stringify({ mcp: [outside] }))
    expect(generate(folder)).toMatchObject({
      status: 2,
      stdout: '',
      stderr: expect.stringContaining('is outside of the project') as string,
    })
  })

  test('has of an MCP server where it starts, what it may ask for, and its tools in the order of the file', () => {
    const folder = project({
      '.mcp.json': '{ "mcpServers": { "files": { "command": "a", "cwd": "sub" }, "plain": { "command": "b" } } }',
      'cordon.config.json': '{ "mcp": [".mcp.json"] }',
      '.cordon/mcp.yaml':
        'servers: { files: { allow: [roots], publish: 3000, tools: { "write_*": server, "*": server, "a*": server } } }\n',
    })
    const [files, plain] = described(folder).agents[0]?.mcp_servers ?? []
    expect(files).toMatchObject({ cwd: './sub', allow: ['roots'], publish: 'http://127.0.0.1:3000/mcp' })
    expect(files?.tools.map(({ name }) => name)).toEqual(['write_*', '*', 'a*'])
    expect(Object.keys(plain ?? {}).sort()).toEqual(['command', 'name', 'pin', 'policy', 'source', 'tools'])
  })

  test('names the host of a remote server that is behind Cordon, and not the file of the user that has its address', () => {
    const file = '/home/ada/.local/state/cordon/mcp/remotes/0123456789abcdef0123456789abcdef.json'
    const servers = (...words: readonly string[]) =>
      described(
        project({
          'cordon.config.json': '{ "mcp": [".mcp.json"] }',
          '.mcp.json': JSON.stringify({ mcpServers: { t: { command: 'npx', args: ['cordon', 'mcp', ...words] } } }),
        }),
      ).agents.flatMap(({ mcp_servers: found }) => found)
    expect(servers('--server=t', '--origin=https://h.test', `--config=${file}`)).toMatchObject([
      {
        url: 'https://h.test',
        command: ['npx', 'cordon', 'mcp', '--server=t', '--origin=https://h.test', '--config=REMOTE'],
        policy: { network: [{ host: 'h.test:443' }] },
      },
    ])
    const [bare] = servers('--server=t', `--config=${file}`)
    expect(bare?.url).toBeUndefined()
    expect(bare?.command?.at(-1)).toMatch(/^--config=hmac-sha256:/)
  })

  test('shows the program, packages and options of an MCP server, and no argument or address that may be a token', () => {
    const remote = { url: 'https://mcp.test/api/s3cret-in-path?token=s3cret' }
    const servers = {
      db: { command: 'npx', args: ['-y', 'db-server@1.2.0', 'postgres://u:s3cret@h/db', '--key=s3cret', './data'] },
      own: { command: './server.js', args: ['--token', 's3cret', '-psecret', '-v', '-k=s3cret'] },
      remote,
    }
    const files = (mcpServers: object) => ({
      'cordon.config.json': '{ "mcp": [".mcp.json"] }',
      '.mcp.json': JSON.stringify({ mcpServers }),
    })
    const folder = project(files(servers))
    const { stdout } = generate(folder)
    expect(stdout).not.toMatch(/s3cret|-psecret/)
    const found = readManifest(stdout, 'stdout').manifest.agents[0]?.mcp_servers ?? []
    const hashed = expect.stringMatching(/^hmac-sha256:/) as unknown
    expect(found.map(({ command, url }) => command ?? url)).toEqual([
      ['npx', '-y', 'db-server@1.2.0', hashed, expect.stringMatching(/^--key=hmac-sha256:/), './data'],
      ['./server.js', '--token', hashed, hashed, '-v', expect.stringMatching(/^-k=hmac-sha256:/)],
      expect.stringMatching(/^https:\/\/mcp\.test#hmac-sha256:/),
    ])
    // With the same key, the same words are the same text, and others are not.
    expect(generate(folder).stdout).toBe(stdout)
    writeFileSync(
      join(folder, '.mcp.json'),
      JSON.stringify({ mcpServers: { ...servers, remote: { url: remote.url + '2' } } }),
    )
    expect(generate(folder).stdout).not.toBe(stdout)
  })

  test('with an unknown key is refused', () => {
    const folder = project({ 'cordon.config.mjs': 'export default { entry: ["a.mjs"] }\n' })
    expect(generate(folder)).toMatchObject({ status: 3, stderr: expect.stringContaining('"entry"') as string })
  })
})

describe('the file of the manifest', () => {
  test('is cordon.manifest.json in the project', () => {
    const folder = whole()
    const { status } = cordon(['manifest', 'generate', '--project', folder], {
      environment: { HOME: '/var/empty' },
    })
    expect(status).toBe(0)
    expect(readFileSync(join(folder, 'cordon.manifest.json'), 'utf8')).toBe(generate(folder).stdout)
  })

  test('replaces a link, and leaves its target as it was', IN_MATRIX, () => {
    const folder = whole()
    const target = join(temporaryFolder(), 'target')
    writeFileSync(target, 'mine')
    symlinkSync(target, join(folder, 'cordon.manifest.json'))
    expect(cordon(['manifest', 'generate'], { cwd: folder, environment: { HOME: '/var/empty' } }).status).toBe(0)
    expect(readFileSync(target, 'utf8')).toBe('mine')
    expect(lstatSync(join(folder, 'cordon.manifest.json')).isFile()).toBe(true)
  })

  test('that is a folder is refused, and no other file is left in the project', () => {
    const folder = whole()
    mkdirSync(join(folder, 'cordon.manifest.json', 'inner'), { recursive: true })
    const before = readdirSync(folder)
    const { status, stderr } = cordon(['manifest', 'generate'], {
      cwd: folder,
      environment: { HOME: '/var/empty' },
    })
    expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining('file-unreadable') as string })
    expect(readdirSync(folder)).toEqual(before)
  })
})

describe('the key of a manifest', () => {
  const ENTRY = (value: string) => `import { createCordon, tool } from 'cordon'
await createCordon({ workspace: process.cwd(), tools: [
  tool({ name: 'one', policy: { environment: [${value}] }, run: () => 1 })] })\n`
  const file = (folder: string) => join(folder, '.cordon', 'manifest.key')
  const variableIn = (folder: string) => described(folder, ['--entry', 'a.mjs']).agents[0]?.tools[0]?.policy

  test('is made once, for the owner alone, and only if a value is hashed', () => {
    const plain = project({ 'a.mjs': ENTRY(`'LANG'`) })
    expect(variableIn(plain)).toEqual({ environment: ['LANG'] })
    expect(existsSync(file(plain))).toBe(false)
    const folder = project({ 'a.mjs': ENTRY(`'PIN=1234'`) })
    const first = variableIn(folder)
    expect(lstatSync(file(folder)).mode & 0o777).toBe(0o600)
    expect(variableIn(folder)).toEqual(first)
    expect(variableIn(project({ 'a.mjs': ENTRY(`'PIN=1234'`) }))).not.toEqual(first)
  })

  test('is required, if a manifest has hashes of it', () => {
    const folder = project({ 'a.mjs': ENTRY(`'PIN=1234'`) })
    const run = (...words: readonly string[]) =>
      cordon(['manifest', ...words, '--entry', 'a.mjs'], { cwd: folder, environment: { HOME: '/var/empty' } })
    expect(run('generate').status).toBe(0)
    const verify = ['verify', '--baseline', 'cordon.manifest.json']
    expect(run(...verify).status).toBe(0)
    rmSync(file(folder))
    const missing = { status: 3, stderr: expect.stringContaining('manifest-key-missing') as string }
    expect([run(...verify), run('generate')]).toMatchObject([missing, missing])
    writeFileSync(file(folder), 'no key')
    expect(run('generate')).toMatchObject(missing)
  })
})

describe('the manifest names what runs', () => {
  test('an image with its digest, a runtime, and the words of a command line that its code has', () => {
    const digest = `sha256:${'a'.repeat(64)}`
    const entry = `import { containerTool, createCordon, processTool } from 'cordon'
await createCordon({ workspace: process.cwd(), tools: [
  containerTool({ name: 'box', image: 'alpine:3.20@${digest}', runtime: 'runsc', command: () => ['cat', '/etc/os-release'] }),
  containerTool({ name: 'tag', image: 'alpine:3.20', command: ({ file }) => ['wc', '-l', file, ...file.list] }),
  processTool({ name: 'token', command() { return ['curl', '-H', 'Authorization: Bearer abcdefghijklmnop0123456789'] } }),
  processTool({ name: 'computed', command: (input) => input.argv }),
] })\n`
    const folder = project({ 'a.mjs': entry })
    const { stdout } = generate(folder, ['--entry', 'a.mjs'])
    expect(stdout).not.toContain('abcdefghijklmnop')
    const tools = readManifest(stdout, 'stdout').manifest.agents[0]?.tools ?? []
    expect(tools.map(({ name, kind, container, command }) => ({ name, kind, container, command }))).toMatchObject([
      {
        name: 'box',
        kind: 'container',
        container: { image: 'alpine:3.20', digest, runtime: 'runsc' },
        command: ['cat', '/etc/os-release'],
      },
      { name: 'computed', kind: 'process' },
      {
        name: 'tag',
        kind: 'container',
        container: { image: 'alpine:3.20', digest: null },
        command: ['wc', '-l', null, null],
      },
      { name: 'token', kind: 'process', command: ['curl', '-H', expect.stringMatching(/^hmac-sha256:/)] },
    ])
  })
})

describe('agents and tools that are made in functions', () => {
  const dynamicOf = (files: Readonly<Record<string, string>>) =>
    described(project(files), ['--entry', 'a.ts']).agents.map(({ name, dynamic }) => [name, dynamic])

  test('are dynamic, under whatever name the function of Cordon is called', () => {
    const files = {
      'a.ts': `import { createCordon as make, tool } from 'cordon'
import * as cordon from 'cordon'
import { another } from './lib/other.js'
export const one = (workspace: string) => make({ workspace, tools: [tool({ name: 'inner', run: () => 1 })] })
export const two = async () =>
  cordon
    .createCordon({ workspace: '/x', tools: [] })
export const three = async () => (await import('cordon')).createCordon({ workspace: '/x', tools: [] })
export const four = () => another({ workspace: '/x', tools: [] })
const { createCordon: five } = cordon
export const six = (call: (make: unknown) => unknown) => [five({ workspace: '/x', tools: [] }), call(five)]
export const seven = (name: 'createCordon') => cordon[name]({ workspace: '/x', tools: [] })
`,
      'lib/other.ts': `import { again } from './again.js'\nexport const another = again\n`,
      'lib/again.ts': `export { createCordon as again } from 'cordon'
export const later = () => import('./deep.js')\n`,
      'lib/deep.ts': `import { createCordon } from 'cordon'
export class Maker {
  readonly make = () => createCordon({ workspace: '/x', tools: [] })
}\n`,
    }
    const of = (line: number) => `createCordon (a.ts:${line})`
    expect(dynamicOf(files)).toEqual([
      ['a', [of(11), of(11), of(12), of(4), of(7), of(8), of(9), 'inner (a.ts:4)']],
      ['lib/deep', ['createCordon (lib/deep.ts:3)']],
    ])
  })

  test('are dynamic for every kind of tool', () => {
    const makers = ['containerTool', 'processTool', 'tool', 'wasmTool']
    const functions = makers.map((maker) => `export const of${maker} = () => ${maker}({ name: '${maker}' } as never)`)
    const entry = [`import { ${makers.join(', ')} } from 'cordon'`, ...functions, ''].join('\n')
    expect(dynamicOf({ 'a.ts': entry })).toEqual([['a', makers.map((maker, at) => `${maker} (a.ts:${at + 2})`)]])
  })

  test('are not dynamic if a function that ran at the top level made them', () => {
    const entry = `import { createCordon, tool } from 'cordon'
const make = (name: string) =>
  createCordon({
    workspace: process.cwd(),
    context: { agent: name },
    tools: [tool({ name: 'one', run: () => 1 })],
  })
export const both = [make('x'), make('y')]\n`
    expect(dynamicOf({ 'a.ts': entry })).toEqual([
      ['x', []],
      ['y', []],
    ])
  })

  test('are not those of functions with the same names that are not of Cordon, or of files that nothing imports', () => {
    const files = {
      'a.ts': `import { tool } from 'cordon'
const createCordon = (options: object) => options
export const one = tool({ name: 'one', run: () => 1 })
export const later = () => createCordon({ tools: [] })\n`,
      'test/a.test.ts': `import { createCordon } from 'cordon'\nexport const t = () => createCordon({ tools: [] })\n`,
    }
    expect(dynamicOf(files)).toEqual([['a', []]])
  })
})

test('the project of README.md has a manifest with its tool, as printed', () => {
  const readme = readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8')
  const [agent = '', configuration = ''] = Array.from(readme.matchAll(/```js\n([^]*?)```/g), ([, code]) => code ?? '')
  const folder = project({ 'agents/support.mjs': agent, 'cordon.config.mjs': configuration })
  const { agents } = described(folder)
  expect(toolNamed(agentNamed(agents, 'agents/support'), 'orders')).toMatchObject({
    policy: { filesystem: { read: ['./orders'] } },
  })
})
