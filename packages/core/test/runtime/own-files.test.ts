// Files that Cordon itself reads and writes, inside the grants of a tool.
import { linkSync, mkdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { describe, expect, it } from 'vitest'

import { parseSecretSource } from '../../src/egress/index.js'
import { isReadable, isWritable, parseAbsolutePath, parsePolicy, resolvePolicy } from '../../src/policy/index.js'
import type { Boundary } from '../../src/policy/index.js'
import {
  auditOwnFiles,
  createCordon,
  openAuditLog,
  policyFrom,
  processTool,
  shieldOwnFiles,
  verifyAudit,
} from '../../src/runtime/index.js'
import type { OwnFile } from '../../src/runtime/index.js'
import { credentialFiles, engineFiles, namedFiles, userFiles } from '../../src/runtime/own-files/index.js'
import { openSandbox } from '../../src/sandbox/index.js'
import type { Form } from '../../src/sandbox/index.js'
import { exitCodeOf } from '../../../../test/ending.js'

import { anEvent, auditFolder } from './audit-stage.js'

const boundaryOf = (workspace: string, filesystem: object): Boundary => {
  const place = parseAbsolutePath(workspace)
  return resolvePolicy(parsePolicy({ filesystem, limits: { wall: '20s' } }, 'test'), {
    workspace: place,
    home: place,
    kind: 'process',
  })
}

const carvedIn = (patterns: Boundary['read']): readonly string[] =>
  patterns.filter(({ negated }) => negated).map(({ text }) => text)
const EXPOSED = expect.objectContaining({ code: 'own-file-exposed' }) as Error

describe('the copies of Cordon that hooks start', () => {
  const files = userFiles({ XDG_DATA_HOME: '/data' }, '/home/a')

  it.each(['/usr/local/lib', '/data', '/home/a/.local/share'])('are taken out of the write root %s', (folder) => {
    const { write } = shieldOwnFiles(boundaryOf('/home/a/work', { write: [folder] }), files)
    expect(carvedIn(write)).toContain(`!${folder}/cordon`)
  })

  it.each(['/usr/local/lib/cordon', '/data/cordon/bin'])('cannot be granted: %s', (folder) => {
    expect(() => shieldOwnFiles(boundaryOf('/home/a/work', { write: [folder] }), files)).toThrow(EXPOSED)
  })

  it('leave a folder beside them as it is', () => {
    const boundary = boundaryOf('/home/a/work', { write: ['/usr/local/lib/other'] })
    expect(shieldOwnFiles(boundary, files)).toBe(boundary)
  })
})

describe('the boundary of a tool and the audit log', () => {
  const places = {
    log: '/home/a/.local/state/cordon/audit.jsonl',
    anchor: '/home/a/.local/state/cordon/audit.jsonl.anchor',
  }
  const shield = (filesystem: object, log = places) =>
    shieldOwnFiles(boundaryOf('/home/a/work', filesystem), auditOwnFiles(log))

  it('stays the same if it does not reach the log', () => {
    const boundary = boundaryOf('/home/a/work', { read: ['/usr/**'], write: ['./**'] })
    expect(shieldOwnFiles(boundary, auditOwnFiles(places))).toBe(boundary)
  })

  it.each([[{ write: ['/home/a/**'] }], [{ write: ['/home/*/.local/**'] }], [{ write: ['/home/a/.local/state'] }]])(
    'loses the folder of the log if it may write there: %j',
    (filesystem) => {
      const [last] = shield(filesystem).read.slice(-1)
      expect(last).toMatchObject({ negated: true, kind: 'literal', base: '/home/a/.local/state/cordon' })
    },
  )

  it('loses the files of the log if it may only read, and keeps the files beside them', () => {
    expect(carvedIn(shield({ read: ['/home/a/**'] }).read)).toEqual([
      '!/home/a/.local/state/cordon/audit.jsonl*',
      '!/home/a/.local/state/cordon/audit.jsonl.anchor*',
    ])
    expect(carvedIn(shield({ read: ['/home/a/.local/state/cordon/**'] }).read)).toContain(
      '!/home/a/.local/state/cordon/audit.jsonl*',
    )
  })

  it('loses the folders of log and anchor if they differ', () => {
    expect(carvedIn(shield({ write: ['/home/a/**'] }, { ...places, anchor: '/home/a/anchors/x' }).read)).toEqual([
      '!/home/a/.local/state/cordon',
      '!/home/a/anchors',
    ])
  })

  it.each([
    [{ write: ['/home/a/.local/state/cordon/**'] }],
    [{ write: ['/home/a/.local/state/cordon/audit.jsonl'] }],
    [{ write: ['/home/a/.local/state/cordon/*.jsonl'] }],
    [{ read: ['/home/a/.local/state/cordon/audit.jsonl'] }],
  ])('is refused if it begins in that folder: %j', (filesystem) => {
    expect(() => shield(filesystem)).toThrow(EXPOSED)
  })

  it('is refused if the working directory would be lost with the folder', () => {
    const boundary = boundaryOf('/home/a/project', { write: ['/home/a/**'] })
    const inFolder = auditOwnFiles({ log: '/home/a/project/audit.jsonl', anchor: '/home/a/project/audit.jsonl.anchor' })
    expect(() => shieldOwnFiles(boundary, inFolder, parseAbsolutePath('/home/a/project'))).toThrow(EXPOSED)
    expect(carvedIn(shieldOwnFiles(boundary, inFolder, parseAbsolutePath('/home/a/other')).read)).toEqual([
      '!/home/a/project',
    ])
  })
})

describe('the boundary of a tool and the file of a credential', () => {
  const stage = () => {
    const folder = realpathSync(auditFolder())
    mkdirSync(join(folder, 'real', 'deep'), { recursive: true })
    writeFileSync(join(folder, 'real', 'deep', 'token'), 'value')
    symlinkSync('real', join(folder, 'linked'))
    symlinkSync('linked/deep/token', join(folder, 'second'))
    const files = (path: string): readonly OwnFile[] => [
      { path: join(folder, path), access: 'withheld', what: 'a value', fix: 'x' },
    ]
    return {
      folder,
      shield: (path: string, filesystem: object) => shieldOwnFiles(boundaryOf(folder, filesystem), files(path)),
    }
  }

  it.each(['real/deep/token', 'linked/deep/token', 'second'])(
    'loses the file itself, however it was named: %s',
    (name) => {
      const { folder, shield } = stage()
      expect(carvedIn(shield(name, { read: ['./**'] }).read)).toEqual([`!${folder}/real/deep/token`])
    },
  )

  it('is refused if the tool could replace a link on the way to it', () => {
    const { shield } = stage()
    expect(carvedIn(shield('real/deep/token', { write: ['./**'] }).read)).toHaveLength(1)
    for (const name of ['linked/deep/token', 'second']) expect(() => shield(name, { write: ['./**'] })).toThrow(EXPOSED)
    expect(carvedIn(shield('second', { write: ['./real/**'] }).read)).toHaveLength(1)
  })

  it('is refused if the file has a second name that may be granted', () => {
    const { folder, shield } = stage()
    linkSync(join(folder, 'real', 'deep', 'token'), join(folder, 'other'))
    expect(() => shield('real/deep/token', { read: ['./linked', './real/deep'] })).toThrow(EXPOSED)
    rmSync(join(folder, 'other'))
    expect(carvedIn(shield('real/deep/token', { read: ['./linked', './real/deep'] }).read)).toHaveLength(1)
  })

  it('is refused if the file itself is granted', () => {
    for (const filesystem of [{ read: ['real/deep/token'] }, { write: ['real/deep/token'] }])
      expect(() => stage().shield('real/deep/token', filesystem)).toThrow(EXPOSED)
  })

  it('does not gain reading from a write pattern', () => {
    const { folder } = stage()
    writeFileSync(join(folder, 'mine.yaml'), '')
    const policy = [{ path: join(folder, 'mine.yaml'), access: 'read-only', what: 'a policy', fix: 'x' }] as const
    const of = (filesystem: object) => shieldOwnFiles(boundaryOf(folder, filesystem), policy)
    const isVisible = (boundary: Boundary) => isReadable(boundary, parseAbsolutePath(join(folder, 'mine.yaml')))
    expect([of({ write: ['./*.txt'] }), of({ write: ['./**'] }), of({ read: ['./**'] })].map(isVisible)).toEqual([
      false,
      true,
      true,
    ])
    expect(isWritable(of({ write: ['./**'] }), parseAbsolutePath(join(folder, 'mine.yaml')))).toBe(false)
  })

  it('withholds exactly the program and the files that a command names', () => {
    const { folder } = stage()
    writeFileSync(join(folder, 'get.sh'), '')
    const filesOf = (source: string) =>
      credentialFiles(new Map([['t', parseSecretSource('t', source, folder)]]), {
        workspace: folder,
        home: '/home/a',
        searchPath: '/usr/bin:/bin',
      }).map(({ path }) => path.replace(`${folder}/`, './'))
    expect(filesOf('command:./get.sh --file=real/deep/token @real/deep/token nothing .')).toEqual([
      './get.sh',
      './real/deep/token',
      './real/deep/token',
    ])
    expect(filesOf('command:cat real')).toEqual(['/usr/bin/cat', './real'])
    expect(filesOf(`command:cat / ${folder} ${dirname(folder)} ${folder}/real`)).toEqual(['/usr/bin/cat', './real'])
    expect(filesOf('command:vault kv get x')).toContain('/home/a/.vault-token')
    expect(filesOf('keyring:service/account')).toContain('/usr/bin/secret-tool')
    expect(filesOf('env:NAME')).toEqual([])
    expect(filesOf('file:/dev/stdin')).toEqual([])
  })

  it('withholds the places where PATH would find the program of a command first', () => {
    const { folder } = stage()
    const source = parseSecretSource('t', 'command:cat', folder)
    const searchPath = `bin:${folder}/.bin:/usr/bin:/after`
    const files = credentialFiles(new Map([['t', source]]), { workspace: folder, home: '/home/a', searchPath }).map(
      ({ path }) => path,
    )
    expect(files).toEqual([`${folder}/bin/cat`, `${folder}/.bin/cat`, '/usr/bin/cat'])
  })
})

describe('a folder of tools that the user named', () => {
  it('gets no new file, and its neighbours do', () => {
    const folder = auditFolder()
    mkdirSync(join(folder, 'tools'))
    const files = namedFiles([join(folder, 'tools'), join(folder, 'absent')], 'a file of this runner')
    const boundary = shieldOwnFiles(boundaryOf(folder, { write: ['./**'] }), files)
    const at = (name: string) => parseAbsolutePath(join(folder, name))
    expect(['tools/new.mjs', 'other/new.mjs'].filter((name) => isWritable(boundary, at(name)))).toEqual([
      'other/new.mjs',
    ])
  })
})

describe('settings of the user that are links', () => {
  it('protect what they lead to, and nothing beside it', () => {
    const home = auditFolder()
    for (const name of ['dotfiles/policies', '.config/cordon']) mkdirSync(join(home, name), { recursive: true })
    for (const name of ['rules.yaml', 'secrets.yaml', 'other.yaml', 'policies/agent.yaml'])
      writeFileSync(join(home, 'dotfiles', name), '')
    for (const name of ['rules.yaml', 'secrets.yaml', 'policies'])
      symlinkSync(`../../dotfiles/${name}`, join(home, '.config/cordon', name))
    const boundary = shieldOwnFiles(boundaryOf(home, { write: ['dotfiles/**'] }), userFiles({}, home))
    const at = (name: string) => parseAbsolutePath(join(home, 'dotfiles', name))
    const written = ['rules.yaml', 'secrets.yaml', 'policies/agent.yaml', 'policies/new.yaml', 'other.yaml']
    expect(written.filter((name) => isWritable(boundary, at(name)))).toEqual(['other.yaml'])
    expect(['rules.yaml', 'secrets.yaml'].filter((name) => isReadable(boundary, at(name)))).toEqual(['rules.yaml'])
  })

  it('refuse a grant of a link on the way, or of a second name, and no other', () => {
    const home = auditFolder()
    for (const name of ['links', 'real', 'others', '.config/cordon']) mkdirSync(join(home, name), { recursive: true })
    for (const name of ['real/rules.yaml', '.config/cordon/bound.yaml']) writeFileSync(join(home, name), '')
    symlinkSync('../real/rules.yaml', join(home, 'links', 'rules.yaml'))
    symlinkSync('../../links/rules.yaml', join(home, '.config/cordon/rules.yaml'))
    const shield = (write: string) => shieldOwnFiles(boundaryOf(home, { write: [write] }), userFiles({}, home))
    expect(() => shield('links')).toThrow(EXPOSED)
    expect(isWritable(shield('others'), parseAbsolutePath(join(home, 'others/new')))).toBe(true)
    linkSync(join(home, '.config/cordon/bound.yaml'), join(home, 'others', 'bound.yaml'))
    expect(() => shield('others')).toThrow(EXPOSED)
  })
})

const ATTACK =
  'echo forged >> state/audit.jsonl; : > state/audit.jsonl; rm -f state/audit.jsonl; mv state other; touch ' +
  'state/audit.jsonl.lock; cat state/audit.jsonl; echo allowed > file'

describe.each<Form>(['namespaces', 'landlock'])('a tool in a cell (%s) whose write root contains the log', (form) => {
  it('can neither read nor change it, but can write beside it', async (context) => {
    const workspace = auditFolder()
    const log = await openAuditLog({ path: join(workspace, 'state', 'audit.jsonl') })
    await log.append([anEvent('before')])
    const before = readFileSync(log.places.log, 'utf8')
    mkdirSync(join(workspace, 'sub'))
    writeFileSync(join(workspace, 'file'), '')
    const sandbox = await openSandbox({ form, nursery: 'none' }).catch((error: unknown) =>
      context.skip(`cannot run here: ${String(error)}`),
    )
    try {
      const boundary = shieldOwnFiles(boundaryOf(workspace, { write: ['./**'] }), auditOwnFiles(log.places))
      const result = await sandbox.run({
        boundary,
        cwd: parseAbsolutePath(workspace),
        argv: ['/bin/bash', '-c', ATTACK],
        hostEnvironment: {},
      })
      expect(exitCodeOf(result)).toBe(0)
      expect(Buffer.from(result.stdout).toString()).not.toContain('before')
    } finally {
      await sandbox.close()
    }
    expect(readFileSync(join(workspace, 'file'), 'utf8')).toBe('allowed\n')
    expect(readFileSync(log.places.log, 'utf8')).toBe(before)
    await log.append([anEvent('after')])
    await log.close()
    expect((await verifyAudit(log.places.log)).isIntact).toBe(true)
  })
})

describe('the boundary of a tool and the socket of a container engine', () => {
  const carvedBy = (environment: Readonly<Record<string, string>>, named?: string) =>
    carvedIn(shieldOwnFiles(boundaryOf('/home/a', { write: ['/home/a/**'] }), engineFiles(environment, named)).read)

  it('loses the socket, whoever names it, and the usual ones beside it', () => {
    const runtime = { XDG_RUNTIME_DIR: '/home/a/run' }
    const usual = ['!/home/a/run/podman/podman.sock', '!/home/a/run/docker.sock']
    expect(carvedBy(runtime)).toEqual(usual)
    expect(carvedBy({ ...runtime, DOCKER_HOST: 'unix:///home/a/engine' })).toEqual(['!/home/a/engine', ...usual])
    expect(carvedBy(runtime, '/home/a/engine')).toEqual(['!/home/a/engine', ...usual])
  })

  it('stays the same if the sockets are elsewhere, or none is named', () => {
    expect(carvedBy({ DOCKER_HOST: 'unix:///srv/engine' })).toEqual([])
    expect(carvedBy({ DOCKER_HOST: 'unix://' })).toEqual([])
    expect(carvedBy({ DOCKER_HOST: 'tcp://10.0.0.1:2375' })).toEqual([])
  })

  it('is not refused for the links of the system on the way to the usual ones', () => {
    const boundary = boundaryOf('/home/a', { write: ['/var/**'] })
    expect(() => shieldOwnFiles(boundary, engineFiles({}))).not.toThrow()
  })
})

describe('a runtime', () => {
  const SCRIPT =
    'cat token key 2>/dev/null; echo x >> token; echo x >> key; echo "# x" >> mine.yaml; cat mine.yaml > ' +
    'copy; cat beside'

  it('withholds its credentials, policies and own files from its tools, but not the files beside them', async () => {
    const workspace = realpathSync(auditFolder())
    const file = (name: string, text: string): string => {
      writeFileSync(join(workspace, name), text)
      return join(workspace, name)
    }
    const [token, key, beside] = [
      file('token', 'value-of-token\n'),
      file('key', 'state-key\n'),
      file('beside', 'beside\n'),
    ]
    const policy = file('mine.yaml', 'filesystem: { write: [ ./** ] }\nlimits: { wall: 20s }\n')
    const look = (filesystem?: object) =>
      processTool({
        name: 'look',
        policy: { ...policyFrom(policy), ...(filesystem === undefined ? {} : { filesystem }) },
        command: () => ['sh', '-c', SCRIPT],
      })
    const options = {
      workspace,
      mode: 'on_request' as const,
      egress: { secrets: { t: `file:${token}` } },
      ownFiles: { withheld: [key] },
    }
    await expect(createCordon({ ...options, tools: [look({ read: [token] })] })).rejects.toThrow(EXPOSED)
    await expect(createCordon({ ...options, tools: [look({ write: [policy] })] })).rejects.toThrow(EXPOSED)
    const cordon = await createCordon({ ...options, tools: [look()] })
    try {
      expect(await cordon.call('look')).toMatchObject({
        status: 'ok',
        output: expect.objectContaining({ stdout: 'beside\n' }) as unknown,
      })
    } finally {
      await cordon.close()
    }
    expect([token, key, beside].map((path) => readFileSync(path, 'utf8'))).toEqual([
      'value-of-token\n',
      'state-key\n',
      'beside\n',
    ])
    expect(readFileSync(join(workspace, 'copy'), 'utf8')).toBe(readFileSync(policy, 'utf8'))
    expect(readFileSync(policy, 'utf8')).not.toContain('# x')
  })
})
