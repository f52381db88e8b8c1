import { describe, expect, it } from 'vitest'

import type { ResolvePath } from '../../src/gate/index.js'
import { resolveByText } from '../../src/gate/index.js'
import { parseAbsolutePath } from '../../src/policy/index.js'

import { WORKSPACE, decide, hook, outcome, toolWith } from './stage.js'

const writeReport = toolWith({
  name: 'writeReport',
  kind: 'in-process',
  policy: { risk: 'low', filesystem: { write: ['/srv/uploads/**'] } },
})
const sandboxed = toolWith({
  policy: { risk: 'low', filesystem: { read: ['/data/**', '!/data/secret'], write: ['/out/**'] } },
})

/** A file system with these links, in which these objects exist. */
const disk =
  (links: Readonly<Record<string, string>>, exists: readonly string[] = []): ResolvePath =>
  (path) => {
    const names: string[] = []
    for (const name of path.split('/')) {
      if (name === '' || name === '.') continue
      if (name === '..') {
        names.pop()
        continue
      }
      names.push(name)
      const target = links[`/${names.join('/')}`]
      if (target !== undefined) names.splice(0, names.length, ...target.split('/').filter((part) => part !== ''))
    }
    const real = `/${names.join('/')}`
    const isThere = (candidate: string) => exists.some((each) => each === candidate || each.startsWith(`${candidate}/`))
    return {
      kind: 'object',
      path: parseAbsolutePath(real),
      exists: isThere(real),
      parentExists: isThere(real.slice(0, real.lastIndexOf('/'))),
    }
  }

describe('a declared filesystem section', () => {
  it('lets a path within the declared globs run', async () => {
    expect(await outcome({ tools: [writeReport] }, { path: '/srv/uploads/2026/r.txt' })).toBe('allow')
  })

  it('denies a path outside before the tool runs, and the reason names path and globs', async () => {
    const { decision } = await decide({ tools: [writeReport] }, { path: '/etc/passwd' })
    expect(decision).toMatchObject({
      decision: 'deny',
      decision_source: 'policy',
      error_code: 'argument-path-denied',
      risk: 'low',
      used_declared_capability: false,
    })
    expect(decision.decision_reason).toMatch(/\/etc\/passwd.*\/srv\/uploads\/\*\*/)
    expect(decision.agent_reason).toContain('/etc/passwd')
    expect(decision.agent_reason).not.toContain('/srv/uploads')
  })

  it('records that a call within it used a declared capability', async () => {
    const { decision } = await decide({ tools: [writeReport] }, { path: '/srv/uploads/r.txt' })
    expect(decision.used_declared_capability).toBe(true)
  })

  it('does nothing for an in-process tool that declares none', async () => {
    const tool = toolWith({ kind: 'in-process', policy: { risk: 'low' } })
    expect(await outcome({ tools: [tool] }, { path: '/etc/passwd', url: 'https://evil.example/' })).toBe('allow')
  })

  it('of "none" denies every absolute path, in a cell and in process', async () => {
    for (const kind of ['in-process', 'function'] as const) {
      for (const filesystem of [{ write: 'none' }, { read: 'none' }, 'none']) {
        const tool = toolWith({ kind, policy: { risk: 'low', filesystem } })
        expect(await outcome({ tools: [tool] }, { path: '/srv/x' })).toBe('deny argument-path-denied')
        expect(await outcome({ tools: [tool] }, { path: '/usr/bin/env' })).toBe('deny argument-path-denied')
        expect(await outcome({ tools: [tool] }, { note: 'a word' })).toBe('allow')
      }
    }
  })

  it('is the union of read and write if the parameter has no mark', async () => {
    expect(await outcome({ tools: [sandboxed] }, { path: '/data/a' })).toBe('allow')
    expect(await outcome({ tools: [sandboxed] }, { path: '/out/a' })).toBe('allow')
    expect(await outcome({ tools: [sandboxed] }, { path: '/other/a' })).toBe('deny argument-path-denied')
  })

  it('can be turned off by the host, and the record says so', async () => {
    const tool = toolWith({
      kind: 'in-process',
      policy: { risk: 'low', filesystem: { write: ['/srv/uploads/**'] } },
      argumentGate: 'off',
    })
    const { decision } = await decide({ tools: [tool] }, { path: '/etc/passwd' })
    expect(decision).toMatchObject({ decision: 'allow', argument_gate: 'off' })
  })

  it('is checked before hooks: a hook never sees what the policy denies', async () => {
    const seen: unknown[] = []
    const hooks = [hook((event) => void seen.push(event))]
    expect(await outcome({ tools: [writeReport], hooks }, { path: '/etc/passwd' })).toBe('deny argument-path-denied')
    expect(seen).toEqual([])
    expect(await outcome({ tools: [writeReport], hooks }, { path: '/srv/uploads/a' })).toBe('allow')
    expect(seen).toHaveLength(1)
  })
})

describe('the gate denies a path that is spelled to bypass it', () => {
  it.each([
    '/srv/uploads/../../etc/passwd',
    '/srv/uploads/../../../../../etc/passwd',
    '//etc/passwd',
    '/etc//passwd',
    '/etc/./passwd',
    '/srv/uploads',
    '/srv/upload',
    '/srv/uploads-twin/x',
    '~/.ssh/id_rsa',
    '~',
    '~root/.ssh/id_rsa',
    'file:///etc/passwd',
    'FILE:///etc/passwd',
    'file://localhost/etc/passwd',
    'file:/etc/passwd',
    'file:etc/passwd',
    'file://evil.example/etc/passwd',
    'file:///etc/%70asswd',
    '../../etc/passwd',
    './x',
    '..',
    'a/../../b',
    'a/b/../../../etc/passwd',
    '/srv/uploads/%2e%2e/%2e%2e/etc/passwd',
    '%2fetc%2fpasswd',
    '%2e%2e/%2e%2e/etc',
    '%252e%252e/%252e%252e/etc',
    ' /etc/passwd',
    '\n/etc/passwd\n',
    '\u200b/etc/passwd',
    '--output=/etc/passwd',
    '-o=/etc/passwd',
    '/srv/uploads/a\0',
    '/srv/uploads/a\0/../../../etc/passwd',
    'a\0b',
  ])('%j', async (path) => {
    expect(await outcome({ tools: [writeReport] }, { path })).toMatch(/^deny argument-/)
    expect(await outcome({ tools: [writeReport] }, { deep: [{ a: { b: [['x', path]] } }] })).toMatch(/^deny argument-/)
    expect(await outcome({ tools: [writeReport] }, { [path]: 'x' })).toMatch(/^deny argument-/)
  })

  it.each([
    '/srv/uploads/a',
    '/srv/uploads//a/../b',
    ' /srv/uploads/a ',
    'file:///srv/uploads/a',
    '--output=/srv/uploads/a',
    '/srv/uploads/%41',
    '../../../srv/uploads/a',
  ])('but allows its honest twin %j', async (path) => {
    expect(await outcome({ tools: [writeReport] }, { path })).toBe('allow')
  })

  it.each([
    '',
    'hello',
    '100%',
    'and/or',
    'application/json',
    'a ~ b',
    '~5 minutes',
    '...',
    'see ../README for more',
    'C:',
    'tcp/ip',
    'file: the report',
    '-n',
    'x=/y z',
  ])('but does not take the ordinary text %j for a path', async (text) => {
    expect(await outcome({ tools: [writeReport] }, { text })).toBe('allow')
  })

  it('refuses lone surrogates instead of replacing them', async () => {
    expect(await outcome({ tools: [writeReport] }, { path: '/srv/uploads/\ud800' })).toBe('deny input-not-json')
    expect(await outcome({ tools: [writeReport] }, { ['\udfff']: 1 })).toBe('deny input-not-json')
  })
})

describe('a symbolic link is judged by its target', () => {
  it('denies a link in a granted folder that leads out', async () => {
    const resolvePath = disk({ '/srv/uploads/link': '/etc' })
    expect(await outcome({ tools: [writeReport], resolvePath }, { path: '/srv/uploads/link/passwd' })).toBe(
      'deny argument-path-denied',
    )
    expect(await outcome({ tools: [writeReport], resolvePath }, { path: '/srv/uploads/other/passwd' })).toBe('allow')
  })

  it('judges ".." after a link as the kernel reads it and as text', async () => {
    const resolvePath = disk({ '/srv/uploads/link': '/srv/uploads/a/b' })
    expect(await outcome({ tools: [writeReport], resolvePath }, { path: '/srv/uploads/link/../x' })).toBe('allow')
    // As text it is /srv/x, and a tool that normalises before it opens would open that.
    expect(await outcome({ tools: [writeReport], resolvePath }, { path: '/srv/uploads/link/../../x' })).toBe(
      'deny argument-path-denied',
    )
  })

  it('denies a path that cannot be resolved, also if the resolver throws', async () => {
    const unknown: ResolvePath = () => ({ kind: 'unknown', problem: 'too many links' })
    const throwing: ResolvePath = () => {
      throw new Error('EIO')
    }
    for (const resolvePath of [unknown, throwing]) {
      expect(await outcome({ tools: [writeReport], resolvePath }, { path: '/srv/uploads/a' })).toBe(
        'deny argument-unreadable',
      )
      expect(await outcome({ tools: [writeReport], resolvePath }, { text: 'a word' })).toBe('allow')
    }
  })
})

describe('a relative path is resolved against the working directory of the cell', () => {
  const cwd = parseAbsolutePath('/srv/uploads')
  const inUploads = toolWith({
    cwd,
    kind: 'in-process',
    policy: { risk: 'low', filesystem: { write: ['/srv/uploads/**'] } },
  })

  it('and judged like any other path', async () => {
    expect(await outcome({ tools: [inUploads] }, { path: './a/b' })).toBe('allow')
    expect(await outcome({ tools: [inUploads] }, { path: 'a/../b' })).toBe('allow')
    expect(await outcome({ tools: [inUploads] }, { path: '../x' })).toBe('deny argument-path-denied')
  })

  it('a bare word is a path when something by that name exists', async () => {
    const resolvePath = disk({}, ['/home/ann/project/notes', '/home/ann/project/src/main.ts'])
    expect(await outcome({ tools: [writeReport], resolvePath }, { path: 'notes' })).toBe('deny argument-path-denied')
    expect(await outcome({ tools: [writeReport], resolvePath }, { path: 'src/main.ts' })).toBe(
      'deny argument-path-denied',
    )
    expect(await outcome({ tools: [writeReport], resolvePath }, { path: 'elsewhere' })).toBe('allow')
    expect(await outcome({ tools: [writeReport], resolvePath }, { path: 'else/where' })).toBe('allow')
  })

  it('in process, a path counts also if it could be created in an existing folder', async () => {
    const resolvePath = disk({}, ['/home/ann/project/src/main.ts'])
    expect(await outcome({ tools: [writeReport], resolvePath }, { path: 'src/new.ts' })).toBe(
      'deny argument-path-denied',
    )
    const inCell = toolWith({ policy: { risk: 'low', filesystem: { write: ['/srv/uploads/**'] } } })
    expect(await outcome({ tools: [inCell], resolvePath }, { path: 'src/new.ts' })).toBe('allow')
  })

  it('a bare word that is a link to the outside is denied', async () => {
    const resolvePath = disk({ '/srv/uploads/key': '/home/ann/.ssh/id_rsa' }, ['/home/ann/.ssh/id_rsa'])
    expect(await outcome({ tools: [inUploads], resolvePath }, { path: 'key' })).toBe('deny argument-path-denied')
  })
})

describe('in a cell', () => {
  it('the gate ignores a section that the policy omits, and denies by a declared "none"', async () => {
    const undeclared = toolWith({ policy: { risk: 'low' } })
    const none = toolWith({ policy: { risk: 'low', filesystem: 'none', network: 'none' } })
    for (const kind of ['function', 'process'] as const)
      expect(await outcome({ tools: [toolWith({ kind, policy: { risk: 'low' } })] }, { command: '/help' })).toBe(
        'allow',
      )
    expect(await outcome({ tools: [undeclared] }, { url: 'https://evil.example/' })).toBe('allow')
    expect(await outcome({ tools: [none] }, { command: '/help' })).toBe('deny argument-path-denied')
    expect(await outcome({ tools: [none] }, { url: 'https://evil.example/' })).toBe('deny argument-url-denied')
    // What the cell grants does not change: nothing.
    expect(undeclared.boundary).toMatchObject({ read: [], write: [], network: { kind: 'none' } })
    expect(undeclared.isReadOnly).toBe(true)
  })

  it('the gate judges each section by itself: declared files leave hosts open, and vice versa', async () => {
    const files = toolWith({ policy: { risk: 'low', filesystem: { read: ['/data/**'] } } })
    expect(await outcome({ tools: [files] }, { url: 'https://evil.example/' })).toBe('allow')
    expect(await outcome({ tools: [files] }, { path: '/srv/x' })).toBe('deny argument-path-denied')
    const hosts = toolWith({ policy: { risk: 'low', network: ['api.example.org'], egress_class: 'read_only' } })
    expect(await outcome({ tools: [hosts] }, { path: '/srv/x' })).toBe('allow')
    expect(await outcome({ tools: [hosts] }, { url: 'https://evil.example/' })).toBe('deny argument-url-denied')
  })

  it('programs of the system may be named, but not its settings', async () => {
    const tools = [toolWith({ policy: { filesystem: { read: ['/data/**'] } } })]
    expect(await outcome({ tools }, { program: '/usr/bin/python3' })).toBe('allow')
    expect(await outcome({ tools }, { file: '/etc/passwd' })).toBe('deny argument-path-denied')
    expect(
      await outcome(
        { tools: [toolWith({ policy: { filesystem: { read: ['/etc/passwd'] } } })] },
        { file: '/etc/passwd' },
      ),
    ).toBe('allow')
  })

  it('carve-outs apply', async () => {
    expect(await outcome({ tools: [sandboxed] }, { path: '/data/secret' })).toBe('deny argument-path-denied')
    expect(await outcome({ tools: [sandboxed] }, { path: '/data/secret/deep' })).toBe('deny argument-path-denied')
    expect(await outcome({ tools: [sandboxed] }, { path: '/data/secrets' })).toBe('allow')
  })

  it('protected names apply also to an in-process tool that may only write', async () => {
    const tool = toolWith({ kind: 'in-process', policy: { risk: 'low', filesystem: { write: ['**'] } } })
    expect(await outcome({ tools: [tool] }, { path: '/home/ann/project/.git/hooks/pre-commit' })).toBe(
      'deny argument-path-denied',
    )
    expect(await outcome({ tools: [tool] }, { path: '/home/ann/project/src/a' })).toBe('allow')
  })
})

describe('in process, the file .git, which redirects git to another repository,', () => {
  const tool = toolWith({
    kind: 'in-process',
    policy: { risk: 'low', filesystem: { read: [], write: ['/srv/**', '/named/.git'] } },
  })
  const listFolder = (path: string) => (path === '/srv/clone/.git' ? [] : undefined)
  const write = (path: string) => outcome({ tools: [tool], resolvePath: disk({}), listFolder }, { path })

  it('cannot be written, where it is missing or a file', async () => {
    for (const path of ['/srv/app/.git', '/srv/app/x/../.git'])
      expect(await write(path)).toBe('deny argument-path-denied')
  })

  it('can be written where it is a folder, where a grant names it, and names beside and beneath it can', async () => {
    for (const path of [
      '/srv/clone/.git',
      '/named/.git',
      '/srv/app/.git/HEAD',
      '/srv/app/.gitignore',
      '/srv/app/x.git',
    ])
      expect(await write(path)).toBe('allow')
  })
})

describe('a URL argument is judged by the network grants', () => {
  const network = [
    'api.example.org',
    '*.cdn.example',
    'db.example:5432',
    '10.1.0.0/16',
    { host: 'paths.example', paths: ['/v1/**'] },
    { host: 'bad.cdn.example', action: 'deny' },
  ]
  const tool = toolWith({ policy: { risk: 'low', network, egress_class: 'read_only' } })

  it.each([
    'https://api.example.org/x?q=a%20b',
    'http://API.example.org',
    'https://a.cdn.example/',
    'postgres://db.example:5432/x',
    'http://10.1.2.3/',
    'https://paths.example/v1/a',
    'wss://api.example.org/socket',
  ])('%s is allowed', async (url) => {
    expect(await outcome({ tools: [tool] }, { url })).toBe('allow')
  })

  it.each([
    'https://evil.example/',
    'https://api.example.org:8443/',
    'https://api.example.org.evil.example/',
    'https://api.example.org@evil.example/',
    'https://user:pw@api.example.org/',
    'https://evil.example\\@api.example.org/',
    'https:\\\\evil.example/',
    'https:/evil.example/',
    'https:evil.example',
    'https://api.example.org./',
    'https://xn--80ak6aa92e.com/',
    'https://еxample.org/',
    'http://0x7f.1/',
    'http://2130706433/',
    'http://0177.0.0.1/',
    'http://[::ffff:10.1.2.3]/',
    'http://10.2.0.1/',
    'http://169.254.169.254/latest/meta-data',
    'https://cdn.example/',
    'https://bad.cdn.example/',
    'https://paths.example/v2/a',
    'https://paths.example/v1/../v2',
    'https://paths.example/v1/%2e%2e/v2',
    ' https://evil.example/',
    'https%3A%2F%2Fevil.example%2F',
    '--url=https://evil.example/',
    'gopher://evil.example:70/',
    'unix:///var/run/docker.sock',
    'x://../../etc/passwd',
  ])('%s is denied', async (url) => {
    expect(await outcome({ tools: [tool] }, { url })).toMatch(/^deny argument-/)
    expect(await outcome({ tools: [tool] }, { deep: { list: [url] } })).toMatch(/^deny argument-/)
  })

  it('with network "all" every URL is allowed', async () => {
    const open = toolWith({ policy: { risk: 'low', network: 'all', egress_class: 'read_only' } })
    expect(await outcome({ tools: [open] }, { url: 'https://evil.example/' })).toBe('allow')
  })
})

describe('without a file system to resolve paths', () => {
  it('a path is judged by its text', () => {
    expect(resolveByText('/a/../b')).toMatchObject({ kind: 'object', path: '/b' })
    expect(resolveByText('/../b')).toMatchObject({ kind: 'unknown' })
  })
})

describe('many words', () => {
  const words = Array.from({ length: 5000 }, (_, at) => `word ${String(at)}`)
  const files = new Set([`${WORKSPACE}/Straße`, `${WORKSPACE}/secret`])
  const resolvePath = (path: string) =>
    ({ ...resolveByText(path), exists: files.has(path), parentExists: true }) as ReturnType<typeof resolveByText>
  const granted = { policy: { filesystem: { read: ['/data/**'] } } }

  it('are not all looked up in the file system', async () => {
    let lookedUp = 0
    const counting = (path: string) => {
      lookedUp += 1
      return resolvePath(path)
    }
    const listFolder = () => ['secret', 'Straße']
    expect(await outcome({ tools: [toolWith(granted)], resolvePath: counting, listFolder }, { words })).toBe('allow')
    expect(lookedUp).toBe(0)
  })

  it.each([
    ['among which one is a file', 'secret', ['secret']],
    ['among which one is a file in a folder that may be one', 'secret/of/mine', ['secret']],
    ['where a file has another spelling', 'STRASSE', ['Straße']],
    ['where nobody can list the folder', 'secret', undefined],
    ['where the text leads elsewhere', '../other', []],
    ['where the text is absolute', '/etc/shadow', []],
  ])('%s are judged like few', async (_name, word, names) => {
    files.add(`${WORKSPACE}/${word}`)
    const staged = { tools: [toolWith(granted)], resolvePath, listFolder: () => names }
    expect(await outcome(staged, { words: [...words, word] })).toBe('deny argument-path-denied')
    expect(await outcome(staged, { words: [word] })).toBe('deny argument-path-denied')
  })
})
