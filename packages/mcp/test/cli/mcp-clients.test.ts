// Files of clients: servers go behind Cordon and back, and nothing else in the file changes.
import { spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  chmodSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { CORDON as CORDON_PROGRAM } from '../../../../test/repository.js'
import { IN_MATRIX } from '../../../../test/turns.js'
import { chooseServers } from '../../src/servers/server-choice.js'
import { clientFiles } from '../../src/clients/clients.js'
import type { ClientFile } from '../../src/clients/clients.js'
import { readConfig, writeConfig } from '../../src/clients/config-file.js'
import { SHARED_WORDS, nameOfEntry, readEntry, startFields, wrapEntry } from '../../src/clients/server-entry.js'

import { cordon as runCordon } from '../../../core/test/cli/cordon.js'
import type { Ran } from '../../../core/test/cli/cordon.js'

const PROGRAM = CORDON_PROGRAM

const CORDON = { words: ['/usr/bin/cordon'], remotes: '/state/remotes' } as const

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cordon-clients-'))
})
afterEach(() => {
  rmSync(folder, { recursive: true, force: true })
})

const fileWith = (name: string, text: string, places = [['mcpServers']]): ClientFile => {
  writeFileSync(join(folder, name), text)
  return {
    client: 'cursor',
    scope: 'user',
    path: join(folder, name),
    format: name.endsWith('.toml') ? 'toml' : 'json',
    places,
  }
}
const textOf = ({ path }: ClientFile): string => readFileSync(path, 'utf8')

const change = (file: ClientFile, isInstall: boolean): void => {
  const config = readConfig(file)
  if (config === undefined) throw new Error('there is no file')
  const changes = config.entries.flatMap((each) => {
    const entry = readEntry(each, CORDON)
    if (isInstall && entry.kind === 'bare')
      return [{ place: each.place, fields: startFields(wrapEntry(nameOfEntry(each), entry, CORDON)) }]
    return !isInstall && entry.kind === 'wrapped' ? [{ place: each.place, fields: startFields(entry.start) }] : []
  })
  if (changes.length > 0) writeConfig(file, config, changes)
}
const install = (file: ClientFile) => {
  change(file, true)
}
const uninstall = (file: ClientFile) => {
  change(file, false)
}

const JSONC = `{
  // My servers.
  "mcpServers": {
    "files": {
      "command": "npx", /* by npm */
      "args": ["-y", "@modelcontextprotocol/server-filesystem", "/data"],
      "env": { "DEBUG": "1" },
    },
    "remote": { "url": "https://example.com/mcp" }
  },
  "theme": "dark" // keep
}
`

const TOML = `# My settings.
model = "gpt-5"

[mcp_servers.files] # files
command = "npx"
# Where the data is.
args = [
  "-y", # do not ask
  "@modelcontextprotocol/server-filesystem",
  "/data",
]
startup_timeout_sec = 20

[mcp_servers.files.env]
DEBUG = "1"

[mcp_servers."with.dot"]
command = "server"
`

describe('a file in JSON with comments', () => {
  test('keeps its comments and its other servers', () => {
    const file = fileWith('mcp.json', JSONC)
    install(file)
    const text = textOf(file)
    for (const kept of ['// My servers.', '/* by npm */', '// keep', '"url": "https://example.com/mcp"'])
      expect(text).toContain(kept)
    expect(readConfig(file)?.entries.map(({ value }) => value)).toEqual([
      {
        command: '/usr/bin/cordon',
        args: [
          ...['mcp', '--server=files', '--env=DEBUG', '--', 'npx', '-y'],
          ...['@modelcontextprotocol/server-filesystem', '/data'],
        ],
        env: { DEBUG: '1' },
      },
      { url: 'https://example.com/mcp' },
    ])
  })
})

describe.each([
  ['JSON with comments', 'mcp.json', JSONC, [['mcpServers']]],
  ['TOML', 'config.toml', TOML, [['mcp_servers']]],
  [
    'JSON by project',
    '.claude.json',
    `{"projects": {"/a": {"mcpServers": {"x": {"command": "x"}}}, "/b": {}}}`,
    [['projects', '*', 'mcpServers']],
  ],
])('a file in %s', (_format, name, text, places) => {
  test('is the same as before after uninstall, apart from layout', () => {
    const file = fileWith(name, text, places)
    const before = readConfig(file)?.entries
    install(file)
    expect(readConfig(file)?.entries).not.toEqual(before)
    uninstall(file)
    expect(readConfig(file)?.entries).toEqual(before)
  })

  test('is not changed by a second install, nor by a second uninstall', () => {
    const file = fileWith(name, text, places)
    install(file)
    const once = textOf(file)
    install(file)
    expect(textOf(file)).toBe(once)
    uninstall(file)
    const back = textOf(file)
    uninstall(file)
    expect(textOf(file)).toBe(back)
  })

  test('has a backup of its first version, and keeps its mode', () => {
    const file = fileWith(name, text, places)
    chmodSync(file.path, 0o600)
    install(file)
    uninstall(file)
    install(file)
    expect(readFileSync(`${file.path}.before-cordon`, 'utf8')).toBe(text)
    expect(statSync(file.path).mode & 0o777).toBe(0o600)
    expect(readdirSync(folder).sort()).toEqual([name, `${name}.before-cordon`].sort())
  })
})

test('comments of TOML stay', () => {
  const file = fileWith('config.toml', TOML, [['mcp_servers']])
  install(file)
  for (const kept of ['# My settings.', '# files', '# Where the data is.', 'startup_timeout_sec = 20'])
    expect(textOf(file)).toContain(kept)
})

test('a link stays a link', () => {
  const file = fileWith('real.json', JSONC)
  symlinkSync(file.path, join(folder, 'link.json'))
  install({ ...file, path: join(folder, 'link.json') })
  expect(
    readdirSync(folder, { withFileTypes: true })
      .find(({ name }) => name === 'link.json')
      ?.isSymbolicLink(),
  ).toBe(true)
  expect(textOf(file)).toContain('/usr/bin/cordon')
})

describe('a file stays as it is', () => {
  test.each([
    ['that is no JSON', 'mcp.json', '{"mcpServers": {"a": {"command": "a"}}'],
    ['that is no TOML', 'config.toml', '[mcp_servers.a\ncommand = "a"'],
  ])('%s', (_name, name, text) => {
    const file = fileWith(name, text, [['mcpServers'], ['mcp_servers']])
    expect(() => {
      install(file)
    }).toThrow(expect.objectContaining({ code: 'client-file-unreadable' }))
    expect(textOf(file)).toBe(text)
  })

  test('if it is TOML of a form that cannot be changed line by line', () => {
    const text = 'mcp_servers = { a = { command = "a" } }\n'
    const file = fileWith('config.toml', text, [['mcp_servers']])
    expect(() => {
      install(file)
    }).toThrow(expect.objectContaining({ code: 'client-file-unchanged' }))
    expect(textOf(file)).toBe(text)
    expect(readdirSync(folder)).toEqual(['config.toml'])
  })
})

test('a link of a project is not followed, and its target stays', () => {
  const file = fileWith('real.json', JSONC)
  symlinkSync(file.path, join(folder, '.mcp.json'))
  expect(() => {
    install({ ...file, scope: 'project', path: join(folder, '.mcp.json') })
  }).toThrow(expect.objectContaining({ code: 'client-file-unchanged' }))
  expect(textOf(file)).toBe(JSONC)
})

test('every client has a file of its user, and variables move it', () => {
  const files = clientFiles({ home: '/h', workspace: '/w', environment: { XDG_CONFIG_HOME: '/x', CODEX_HOME: '/c' } })
  expect(files.filter(({ scope }) => scope === 'user').map(({ path }) => path)).toEqual([
    '/x/Claude/claude_desktop_config.json',
    '/h/.claude.json',
    '/h/.cursor/mcp.json',
    '/x/Code/User/mcp.json',
    '/c/config.toml',
    '/h/.gemini/settings.json',
  ])
})

describe('cordon mcp', () => {
  const cordon = (...words: readonly string[]): Ran => {
    const home = join(folder, 'home')
    // As where they are not set.
    const folders = { XDG_CONFIG_HOME: join(home, '.config'), XDG_STATE_HOME: join(home, '.local', 'state') }
    return runCordon(['mcp', ...words], { cwd: folder, environment: { HOME: home, NO_COLOR: '1', ...folders } })
  }
  const project = () => fileWith('.mcp.json', JSONC)

  test('list, install, list again and uninstall', () => {
    const file = project()
    const before = readConfig(file)?.entries
    expect(cordon('list').stdout).toContain('files: does not use Cordon: npx -y')
    expect(cordon('list').stdout).toContain('remote: does not use Cordon: https://example.com/mcp')
    expect(cordon('install', 'claude-code').stdout).toContain('files: now uses Cordon')
    expect(cordon('list').stdout).toContain('files: uses Cordon: npx -y')
    expect(readConfig(file)?.entries[0]?.value).toMatchObject({
      command: '/bin/sh',
      args: [
        '-c',
        expect.stringContaining('/cordon/bin/cordon') as string,
        'cordon',
        'mcp',
        '--server=files',
        '--env=DEBUG',
        '--',
        'npx',
        '-y',
        expect.any(String) as string,
        '/data',
      ],
    })
    expect(cordon('uninstall').stdout).toContain('files: no longer uses Cordon')
    expect(readConfig(file)?.entries).toEqual(before)
  })

  test('list shows the options of Cordon in the file of a project, and not those that install writes', () => {
    const [command, ...first] = SHARED_WORDS
    const entry = (...options: readonly string[]) => ({
      command,
      args: [...first, 'mcp', '--server=files', '--env=DEBUG', ...options, '--', 'node', 's.js'],
      env: { DEBUG: '1' },
    })
    const secret = '--secret=x=command:./evil'
    const listed = (value: unknown): string => {
      fileWith('.mcp.json', JSON.stringify({ mcpServers: { files: value } }))
      return cordon('list', 'claude-code').stdout
    }
    expect(listed(entry('--net', 'all', '--mode', 'bypass', secret))).toContain(
      `files: uses Cordon with --net all --mode bypass ${secret}: node s.js\n`,
    )
    expect(listed(entry())).toContain('files: uses Cordon: node s.js\n')
    const planted = { command: 'npx', args: ['cordon', 'mcp', '--', 'node', 's.js'] }
    expect(listed(planted)).toContain('files: not changed, because it starts Cordon as `npx cordon mcp`')
    expect(listed({ ...entry(), env: { PATH: './evil' } })).toContain('its variable PATH would steer Cordon itself')
  })

  test('uninstall restores a file byte for byte, unless somebody changed it meanwhile', () => {
    const windows = JSONC.replaceAll('\n', '\r\n')
    const file = fileWith('.mcp.json', windows)
    for (let round = 0; round < 2; round += 1) {
      cordon('install', 'claude-code')
      expect(textOf(file)).not.toBe(windows)
      cordon('uninstall', 'claude-code')
      expect(textOf(file)).toBe(windows)
    }
    cordon('install', 'claude-code')
    writeFileSync(file.path, textOf(file).replace('// My servers.', '// Our servers.'))
    cordon('uninstall', 'claude-code')
    expect(textOf(file)).toContain('// Our servers.')
    expect(textOf(file)).not.toContain(process.execPath)
    // The first backup has another command.
    writeFileSync(file.path, windows.replace('"/data"', '"/other"'))
    cordon('install', 'claude-code')
    cordon('uninstall', 'claude-code')
    expect(JSON.stringify(readConfig(file)?.entries)).toContain('/other')
  })

  const isNotRead = (make: (path: string) => void, servers: readonly string[]): void => {
    const file = project()
    const before = readConfig(file)?.entries
    make(`${file.path}.before-cordon`)
    const words = servers.map((name) => `--server=${name}`)
    expect(cordon('install', 'claude-code', ...words)).toMatchObject({ status: 0, stderr: '' })
    expect(readConfig(file)?.entries).not.toEqual(before)
    expect(cordon('uninstall', 'claude-code', ...words)).toMatchObject({ status: 0, stderr: '' })
    expect(readConfig(file)?.entries).toEqual(before)
  }

  // The backup of a file with an address is kept elsewhere.
  test.each([['files'], ['remote']])(
    'a pipe as the backup of a project is not read: install and uninstall %s',
    (name) => {
      isNotRead((path) => spawnSync('mkfifo', [path]), [name])
    },
  )

  test('a backup of 3 GB is not read, and the entries are taken back without it', () => {
    isNotRead(
      (path) => {
        writeFileSync(path, '')
        truncateSync(path, 3 * 1024 ** 3)
      },
      ['files'],
    )
  })

  /** One client with settings in JSON, and one in TOML. */
  const OF_EACH_FORM = new Set(['claude-code', 'codex'])

  const REMOTES: readonly (readonly [string, string, string])[] = [
    ['claude-code', '.mcp.json', '{"mcpServers": {"t": {"type": "http", "url": "https://h.test/mcp", "timeout": 9}}}'],
    ['cursor', '.cursor/mcp.json', '{"mcpServers": {"t": {"url": "https://h.test/mcp", "headers": {"A": "s3cret"}}}}'],
    ['vscode', '.vscode/mcp.json', '{"servers": {"t": {"type": "http", "url": "https://h.test/mcp"}}, "inputs": []}'],
    ['gemini', '.gemini/settings.json', '{"mcpServers": {"t": {"httpUrl": "https://h.test/mcp", "trust": false}}}'],
    [
      ...(['codex', '.codex/config.toml'] as const),
      '[mcp_servers.t]\nurl = "https://h.test/mcp"\ntool_timeout_sec = 9\n\n' +
        '[mcp_servers.t.http_headers]\n# mine\nA = "s3cret"\n\n[other]\na = 1\n',
    ],
    [
      ...(['claude-desktop', 'home/.config/Claude/claude_desktop_config.json'] as const),
      '{"mcpServers": {"t": {"url": "https://h.test/mcp"}}}',
    ],
  ]

  const isBehindAndBack = (client: string, name: string, text: string): void => {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    const file = { ...fileWith(name, text), places: [['mcpServers'], ['servers'], ['mcp_servers']] }
    const before = readConfig(file)?.entries
    const fields = (before?.[0]?.value ?? {}) as Readonly<Record<string, unknown>>
    const said = cordon('install', client).stdout
    expect(said).toContain('t: now uses Cordon: https://h.test/mcp')
    expect(said).toContain('cordon mcp login https://h.test/mcp')
    const after = readConfig(file)?.entries[0]?.value as { readonly args: readonly string[] }
    const { timeout, trust, tool_timeout_sec } = fields
    expect(after).toEqual(
      JSON.parse(
        JSON.stringify({
          // The file of a project is for several machines.
          command: name.startsWith('home/') ? join(folder, 'home/.local/share/cordon/bin/cordon') : '/bin/sh',
          args: after.args,
          timeout,
          trust,
          tool_timeout_sec,
        }),
      ),
    )
    expect(textOf(file)).not.toContain('s3cret')
    expect(existsSync(`${file.path}.before-cordon`)).toBe(false)
    const [backup] = readdirSync(join(folder, 'home/.local/state/cordon/mcp/backups'))
    expect(readFileSync(join(folder, 'home/.local/state/cordon/mcp/backups', backup ?? ''), 'utf8')).toBe(text)
    expect(textOf(file).includes('# mine')).toBe(text.includes('# mine'))
    const kept = after.args.at(-1)?.replace('--config=', '') ?? ''
    const own = after.args.slice(after.args.indexOf('mcp'))
    expect(own).toEqual(['mcp', '--server=t', '--origin=https://h.test', `--config=${kept}`])
    expect(kept.startsWith(join(folder, 'home/.local/state/cordon/mcp/remotes/'))).toBe(true)
    expect(statSync(kept).mode & 0o777).toBe(0o600)
    const once = textOf(file)
    expect(cordon('install', client).stdout).toContain('t: uses Cordon: https://h.test/mcp')
    expect(textOf(file)).toBe(once)
    expect(cordon('uninstall', client).stdout).toContain('t: no longer uses Cordon')
    expect(textOf(file)).toBe(text)
    expect(readdirSync(dirname(kept))).toEqual([])
  }

  for (const [client, ...rest] of REMOTES)
    test(`puts a remote server of ${client} behind Cordon, and back`, OF_EACH_FORM.has(client) ? {} : IN_MATRIX, () => {
      isBehindAndBack(client, ...rest)
    })

  test('a file of a project starts the copy of Cordon of each user, also where the project has Cordon', () => {
    mkdirSync(join(folder, 'node_modules'))
    symlinkSync(dirname(dirname(PROGRAM)), join(folder, 'node_modules', 'cordon'))
    const text = JSON.stringify({ mcpServers: { t: { url: 'https://h.test/mcp?key=s3cret' } } })
    const file = fileWith('.mcp.json', text)
    cordon('install', 'claude-code', '--project')
    const { command, args } = readConfig(file)?.entries[0]?.value as {
      readonly command: string
      readonly args: readonly string[]
    }
    expect([command, ...args.slice(0, -1)]).toEqual([
      '/bin/sh',
      '-c',
      expect.stringMatching(/^exec "\$\{XDG_DATA_HOME:-\$HOME[^}]*\}\/cordon\/bin\/cordon" "\$@"$/) as string,
      'cordon',
      'mcp',
      '--server=t',
      '--origin=https://h.test',
    ])
    expect(textOf(file)).not.toContain('s3cret')
    cordon('uninstall', 'claude-code', '--project')
    expect(readConfig(file)?.entries[0]?.value).toEqual({ url: 'https://h.test/mcp?key=s3cret' })
  })

  test('a remote server at another origin than the named one is refused', () => {
    const file = fileWith('servers.json', JSON.stringify({ mcpServers: { t: { url: 'https://h.test/mcp' } } }))
    const chosen = (origin: string) => () =>
      chooseServers({
        switches: new Set(),
        rest: [],
        values: new Map([
          ['config', [file.path]],
          ['origin', [origin]],
        ]),
      })
    expect(chosen('https://evil.test')).toThrow('"t" is at https://h.test')
    expect(chosen('https://h.test')()).toMatchObject([{ name: 't' }])
  })

  test('uninstall does not copy what another file moved to Cordon', IN_MATRIX, () => {
    const file = fileWith(
      '.mcp.json',
      '{"mcpServers": {"t": {"url": "https://h.test/mcp", "headers": {"A": "s3cret"}}}}',
    )
    cordon('install')
    mkdirSync(join(folder, '.cursor'))
    const stolen = join(folder, '.cursor', 'mcp.json')
    writeFileSync(stolen, textOf(file))
    expect(cordon('uninstall', 'cursor').stdout).toContain('t: not changed')
    expect(readFileSync(stolen, 'utf8')).not.toContain('s3cret')
    cordon('uninstall', 'claude-code')
    expect(textOf(file)).toContain('s3cret')
  })

  test('a file that cannot be changed leaves nothing in the folder of addresses', IN_MATRIX, () => {
    const file = fileWith('real.json', '{"mcpServers": {"t": {"url": "https://h.test/mcp"}}}')
    symlinkSync(file.path, join(folder, '.mcp.json'))
    expect(cordon('install').stderr).toContain('client-file-unchanged')
    expect(readdirSync(join(folder, 'home/.local/state/cordon/mcp/remotes'))).toEqual([])
  })

  test('install says which tools lack policies, and not of servers that have them', IN_MATRIX, () => {
    project()
    expect(cordon('install', '--dry-run').stdout).toMatch(/no policies yet[^]*mcp\.yaml[^]*files:[^]*remote:/)
    mkdirSync(join(folder, 'home/.config/cordon'), { recursive: true })
    writeFileSync(join(folder, 'home/.config/cordon/mcp.yaml'), 'servers: { "*": { tools: { "*": server } } }\n')
    expect(cordon('install').stdout).not.toContain('no policies yet')
  })

  test(
    'the example of install grants the paths that the words of a server name, or else the working folder',
    IN_MATRIX,
    () => {
      const data = join(folder, 'data')
      mkdirSync(data)
      const servers = { named: { command: 'server', args: [`--root=${data}`] }, bare: { command: 'server' } }
      fileWith('.mcp.json', JSON.stringify({ mcpServers: servers }))
      const { stdout } = cordon('install')
      expect(stdout).toContain('named: { policy: { filesystem: { read: ["data"] } }, tools: { "*": server } }')
      expect(stdout).toContain('bare: { policy: { filesystem: { read: ["."] } }, tools: { "*": server } }')
      expect(stdout).not.toContain('Do not commit')
    },
  )

  test(
    'install warns of an address on this machine in the file of a project, and not in that of the user',
    IN_MATRIX,
    () => {
      const text = '{"mcpServers": {"t": {"url": "https://h.test/mcp"}}}'
      fileWith('.mcp.json', text)
      mkdirSync(join(folder, 'home'), { recursive: true })
      fileWith('home/.claude.json', text)
      expect(cordon('install', '--user').stdout).not.toContain('Do not commit')
      expect(cordon('install', '--project').stdout).toContain('Do not commit')
    },
  )

  test('the copy of Cordon loads no project, and names the Cordon that does', () => {
    project()
    cordon('install')
    mkdirSync(join(folder, 'agents'))
    writeFileSync(join(folder, 'agents/agent.mjs'), 'export const one = 1\n')
    const home = join(folder, 'home')
    const copy = join(home, '.local/share/cordon/bin/cordon')
    const { status, stderr } = spawnSync(copy, ['manifest', 'inspect', '--entry', 'agent.mjs'], {
      cwd: join(folder, 'agents'),
      env: { HOME: home, PATH: '/usr/bin:/bin' },
      encoding: 'utf8',
    })
    expect([status, stderr]).toEqual([3, expect.stringMatching(/copy-partial: [^]*npx cordon manifest/) as string])
  })

  test('install --dry-run says what would be done', IN_MATRIX, () => {
    project()
    expect(cordon('install', '--dry-run').stdout).toContain('files: would use Cordon')
    cordon('install')
    expect(cordon('uninstall', '--dry-run').stdout).toContain('files: would no longer use Cordon')
  })

  test('install --dry-run changes nothing, and --json tells everything', () => {
    const file = project()
    const { servers } = JSON.parse(cordon('install', '--dry-run', '--json').stdout) as { readonly servers: unknown }
    expect(servers).toMatchObject([
      { client: 'claude-code', server: 'files', state: 'installed' },
      { server: 'remote', state: 'installed', url: 'https://example.com/mcp' },
    ])
    expect(textOf(file)).toBe(JSONC)
  })

  test('install of a client, a server or a place that does not exist says so', IN_MATRIX, () => {
    project()
    expect(cordon('install', 'cursr')).toMatchObject({
      stderr: expect.stringContaining('did you mean "cursor"?') as string,
    })
    expect(cordon('install', '--server', 'fils')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('no client has a server "fils"') as string,
    })
    expect(cordon('install', 'gemini')).toMatchObject({
      status: 1,
      stdout: expect.stringContaining('.gemini') as string,
    })
  })

  test('a broken file of one client does not keep those of others from being changed', IN_MATRIX, () => {
    const file = project()
    mkdirSync(join(folder, '.cursor'))
    writeFileSync(join(folder, '.cursor', 'mcp.json'), '{')
    const { status, stderr } = cordon('install')
    expect([status, stderr]).toEqual([1, expect.stringContaining('.cursor/mcp.json cannot be read') as string])
    expect(textOf(file)).toContain('"--server=files"')
  })

  test('a server is a word after --, also if it is called like an action', () => {
    expect(cordon('--', 'list')).toMatchObject({
      stdout: '',
      stderr: expect.stringContaining('server "list"') as string,
    })
  })
})

describe('a file of servers for the gateway', () => {
  const chosenOf = (entry: string) => () => {
    const path = join(folder, 'servers.json')
    writeFileSync(path, `{ "mcpServers": {\n  "files": {\n    ${entry}\n  }\n} }\n`)
    return chooseServers({ switches: new Set(), rest: [], values: new Map([['config', [path]]]) })
  }

  test.each([
    ['"comand": "npx"', 3, '"files" has no "command" and no "url"'],
    ['"command": 5', 3, '"command" of "files" is not a text'],
    ['"cwd": "."', 2, '"files" has no "command" and no "url"'],
    ['"command": "npx",\n    "args": "-y"', 4, '"args" of "files" is not a list of texts'],
  ])('with %j is refused with its line', (entry, line, problem) => {
    expect(chosenOf(entry)).toThrow(`servers.json:${String(line)}: ${problem}`)
  })

  test('that does not exist is refused with the folder that its path starts at', () => {
    const values = new Map([['config', [join(folder, 'missing.json')]]])
    expect(() => chooseServers({ switches: new Set(), rest: [], values })).toThrow(
      expect.objectContaining({ code: 'file-unreadable', fix: `name a file that exists, from ${process.cwd()}` }),
    )
  })

  test('with a command starts it', () => {
    expect(chosenOf('"command": "npx"')()).toMatchObject([{ name: 'files', argv: ['npx'] }])
  })
})
