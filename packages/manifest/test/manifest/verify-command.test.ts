// `cordon manifest verify` as people run it: with files, with git, and with projects that somebody hostile wrote.
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'

import { afterAll, describe, expect, it } from 'vitest'

import { manifestJson, manifestYaml, readManifest } from 'cordon/manifest'
import type { Manifest } from 'cordon/manifest'
import { CORE } from '../../../../test/repository.js'
import { cordon } from '../../../core/test/cli/cordon.js'

import { aTool, anAgent, findingsOf, manifestWith } from './manifests.js'

const base = realpathSync(mkdtempSync('/var/tmp/cordon-verify-'))
afterAll(() => {
  rmSync(base, { recursive: true, force: true })
})

const reading = (...read: readonly string[]): Manifest =>
  manifestWith(anAgent({ tools: [aTool({ filesystem: { read } })] }))
const [NARROW, WIDE, WIDER] = [reading('/a'), reading('/a', '/b'), reading('/a', '/b', '/c')]
const FINGERPRINT = findingsOf(NARROW, WIDE)[0]?.fingerprint ?? ''
const FILE = 'cordon.manifest.json'

let folders = 0
const newFolder = (): string => {
  folders += 1
  const folder = join(base, String(folders))
  mkdirSync(folder)
  return folder
}

/** A folder with a baseline and a present manifest. */
const withFiles = (baseline: Manifest, present: Manifest): string => {
  const folder = newFolder()
  writeFileSync(join(folder, 'baseline.json'), manifestJson(baseline))
  writeFileSync(join(folder, 'present.json'), manifestJson(present))
  return folder
}

const verifyIn = (cwd: string, ...words: readonly string[]) => cordon(['manifest', 'verify', ...words], { cwd })

const BOTH = ['--baseline', 'baseline.json', 'present.json'] as const

describe('two files', () => {
  it('of which one is a device or a pipe end with 2, and a link to a file is read', () => {
    const folder = withFiles(NARROW, WIDE)
    symlinkSync('/dev/zero', join(folder, 'zero.json'))
    execFileSync('mkfifo', [join(folder, 'pipe.json')])
    symlinkSync('baseline.json', join(folder, 'link.json'))
    const withBaseline = (name: string) => verifyIn(folder, '--baseline', name, 'present.json')
    for (const name of ['zero.json', 'pipe.json'])
      expect(withBaseline(name)).toMatchObject({
        status: 2,
        stderr: expect.stringContaining('it is not a file') as string,
      })
    expect(withBaseline('link.json').status).toBe(1)
  })

  it('name the open findings if --accept names none of them, and acceptances that are no longer needed', () => {
    const folder = withFiles(NARROW, WIDE)
    expect(verifyIn(folder, ...BOTH, '--accept', 'ffffffffff', '--reason', 'x')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining(`${FINGERPRINT.slice(0, 8)} (tool.filesystem.read.widened)`) as string,
    })
    verifyIn(folder, ...BOTH, '--accept', FINGERPRINT, '--reason', 'x')
    expect(verifyIn(folder, ...BOTH, '--format', 'markdown').stdout).toContain(
      '### Permissions: 1 finding, all accepted',
    )
    writeFileSync(join(folder, 'present.json'), manifestJson(NARROW))
    for (const form of ['text', 'markdown'])
      expect(verifyIn(folder, ...BOTH, '--format', form).stdout).toMatch(
        new RegExp(`no longer needed: the acceptance .?${FINGERPRINT}[^]*Delete these from "accepted"`),
      )
  })

  it('end with 0 if nothing is new, and with 1 if something is', () => {
    expect(verifyIn(withFiles(WIDE, NARROW), ...BOTH)).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('No tool') as string,
    })
    expect(verifyIn(withFiles(NARROW, WIDE), ...BOTH)).toMatchObject({
      status: 1,
      stdout: expect.stringContaining('`report` can now read /b') as string,
    })
  })

  it.each([
    ['no baseline', ['present.json']],
    ['an unknown form', [...BOTH, '--format', 'pdf']],
    ['an unknown option', [...BOTH, '--strict']],
    ['two manifests', [...BOTH, 'baseline.json']],
    ['a missing file', ['--baseline', 'missing.json', 'present.json']],
    ['an acceptance without a reason', [...BOTH, '--accept', FINGERPRINT]],
    ['an acceptance with an empty reason', [...BOTH, '--accept', FINGERPRINT, '--reason', ' ']],
    ['a reason without an acceptance', [...BOTH, '--reason', 'x']],
    ['an unknown fingerprint', [...BOTH, '--accept', '0123456789abcdef', '--reason', 'x']],
    ['a fingerprint of a few characters', [...BOTH, '--accept', FINGERPRINT.slice(0, 4), '--reason', 'x']],
  ])('end with 2 for %s', (_, words) => {
    expect(verifyIn(withFiles(NARROW, WIDE), ...words).status).toBe(2)
  })

  it('end with 3 if one is no manifest, or was changed by hand', () => {
    const folder = withFiles(NARROW, WIDE)
    writeFileSync(join(folder, 'present.json'), '{"format": "cordon-manifest/9"}')
    expect(verifyIn(folder, ...BOTH).status).toBe(3)
    writeFileSync(join(folder, 'present.json'), manifestJson(WIDE).replace('"/b"', '"/c"'))
    expect(verifyIn(folder, ...BOTH)).toMatchObject({
      status: 3,
      stderr: expect.stringContaining('does not fit its hash') as string,
    })
  })

  it('show a baseline that was changed by hand', () => {
    const folder = withFiles(NARROW, WIDE)
    writeFileSync(join(folder, 'baseline.json'), manifestJson(NARROW).replace('"/a"', '"/b"'))
    const { status, stdout } = verifyIn(folder, ...BOTH)
    expect([status, stdout]).toEqual([1, expect.stringContaining('baseline.tampered')])
    expect(verifyIn(folder, ...BOTH, '--accept-all', '--reason', 'x').status).toBe(2)
  })
})

describe('an acceptance', () => {
  it('is kept in the baseline with its reason, and does not cover a wider change', () => {
    const folder = withFiles(NARROW, WIDE)
    const accepted = verifyIn(folder, ...BOTH, '--accept', FINGERPRINT.slice(0, 8), '--reason', 'needed for exports')
    expect(accepted).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('reason: needed for exports') as string,
    })
    const { manifest, problem } = readManifest(readFileSync(join(folder, 'baseline.json'), 'utf8'), 'baseline')
    expect([manifest.accepted, problem]).toEqual([
      [{ finding: 'tool.filesystem.read.widened', fingerprint: FINGERPRINT, reason: 'needed for exports' }],
      undefined,
    ])
    expect(verifyIn(folder, ...BOTH).status).toBe(0)
    writeFileSync(join(folder, 'present.json'), manifestJson(WIDER))
    expect(verifyIn(folder, ...BOTH).status).toBe(1)
    expect(verifyIn(folder, ...BOTH, '--accept-all', '--reason', 'again').status).toBe(0)
    expect(readdirSync(folder).sort()).toEqual(['baseline.json', 'present.json'])
  })

  it('is kept in YAML too', () => {
    const folder = withFiles(NARROW, WIDE)
    writeFileSync(join(folder, 'baseline.yaml'), manifestYaml(NARROW))
    const words = ['--baseline', 'baseline.yaml', 'present.json'] as const
    expect(verifyIn(folder, ...words, '--accept-all', '--reason', 'fine').status).toBe(0)
    expect(readFileSync(join(folder, 'baseline.yaml'), 'utf8')).toContain('reason: fine')
    expect(verifyIn(folder, ...words).status).toBe(0)
  })

  it('that cannot be written leaves the file as it was', () => {
    const folder = withFiles(NARROW, WIDE)
    const text = readFileSync(join(folder, 'baseline.json'), 'utf8')
    // A folder that nobody may write to does not stop root.
    execFileSync('sh', ['-c', 'rm -f baseline.json && ln -s /proc/version baseline.json'], { cwd: folder })
    expect(verifyIn(folder, ...BOTH, '--accept-all', '--reason', 'x').status).not.toBe(0)
    writeFileSync(join(folder, 'kept.json'), text)
    expect(verifyIn(folder, '--baseline', 'kept.json', 'present.json').status).toBe(1)
  })
})

const git = (cwd: string, ...words: readonly string[]): string =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.org', ...words], {
    cwd,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'] ?? '', HOME: base, GIT_CONFIG_NOSYSTEM: '1' },
  })

/** A repository whose `main` has the narrow manifest, and whose checkout has the wide one. */
const repository = (inside = ''): string => {
  const folder = newFolder()
  git(folder, 'init', '-q', '-b', 'main')
  const project = join(folder, inside)
  mkdirSync(project, { recursive: true })
  writeFileSync(join(project, FILE), manifestJson(NARROW))
  git(folder, 'add', '.')
  git(folder, 'commit', '-q', '-m', 'one')
  writeFileSync(join(project, FILE), manifestJson(WIDE))
  return project
}

const FROM_GIT = ['--baseline', 'main', FILE] as const

describe('a commit as baseline', () => {
  it.each([
    ['of the folder of the project', ''],
    ['of a project in a subfolder', 'services/agent'],
  ])('has the manifest %s', (_, inside) => {
    expect(verifyIn(repository(inside), ...FROM_GIT)).toMatchObject({
      status: 1,
      stdout: expect.stringContaining('`report` can now read /b') as string,
    })
  })

  it('is read in a linked work tree, and in a clone that shares objects', () => {
    const origin = repository()
    git(origin, 'worktree', 'add', '-q', '-b', 'side', join(base, 'linked'))
    writeFileSync(join(base, 'linked', FILE), manifestJson(WIDE))
    expect(verifyIn(join(base, 'linked'), ...FROM_GIT).status).toBe(1)
    git(base, 'clone', '-q', '--shared', origin, join(base, 'shared'))
    expect(verifyIn(join(base, 'shared'), ...FROM_GIT).status).toBe(0)
  })

  it('is not replaced by a file of the same name', () => {
    const folder = repository()
    writeFileSync(join(folder, 'main'), manifestJson(WIDE))
    expect(verifyIn(folder, ...FROM_GIT).status).toBe(1)
  })

  it('keeps acceptances in the checkout, where a reviewer sees them', () => {
    const folder = repository()
    expect(verifyIn(folder, ...FROM_GIT, '--accept-all', '--reason', 'agreed').status).toBe(0)
    expect(readFileSync(join(folder, FILE), 'utf8')).toContain('agreed')
    expect(verifyIn(folder, ...FROM_GIT).status).toBe(0)
  })

  it.each([
    ['that git does not know', 'no-such-branch', 'git fetch'],
    ['that looks like an option', '--upload-pack=touch owned', 'needs a value'],
    ['with an option behind it', '-O', 'cannot be read'],
  ])('%s is refused with a fix', (_, ref, words) => {
    const folder = repository()
    const { status, stderr } = verifyIn(folder, `--baseline=${ref}`, FILE)
    expect([status === 3 || status === 2, stderr.includes(words) || stderr.includes('git')]).toEqual([true, true])
    expect(existsSync(join(folder, 'owned'))).toBe(false)
  })

  it('without the file says how to get it', () => {
    const folder = repository()
    git(folder, 'rm', '-q', '--cached', FILE)
    git(folder, 'commit', '-q', '-m', 'gone')
    expect(verifyIn(folder, ...FROM_GIT)).toMatchObject({
      status: 3,
      stderr: expect.stringContaining('is not in main') as string,
    })
  })

  it('outside of a repository says so', () => {
    const folder = newFolder()
    writeFileSync(join(folder, FILE), manifestJson(WIDE))
    expect(verifyIn(folder, ...FROM_GIT)).toMatchObject({
      status: 3,
      stderr: expect.stringContaining('not in a git repository') as string,
    })
  })

  it('is read without running anything that the repository names', () => {
    const folder = repository()
    const script = join(folder, 'owned.sh')
    writeFileSync(script, `#!/bin/sh\ntouch ${join(folder, 'owned')}\n`)
    chmodSync(script, 0o755)
    for (const key of [
      'core.fsmonitor',
      'core.pager',
      'pager.cat-file',
      'core.sshCommand',
      'diff.external',
      'alias.cat-file',
    ])
      git(folder, 'config', key, key.startsWith('alias') ? `!${script}` : script)
    git(folder, 'config', 'filter.x.smudge', script)
    writeFileSync(join(folder, '.git/info/attributes'), '* filter=x diff=x\n')
    git(folder, 'config', 'diff.x.textconv', script)
    for (const hook of ['post-checkout', 'post-index-change', 'reference-transaction'])
      writeFileSync(join(folder, '.git/hooks', hook), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
    expect(verifyIn(folder, ...FROM_GIT).status).toBe(1)
    expect(existsSync(join(folder, 'owned'))).toBe(false)
  })
})

describe('a project', () => {
  const tools = (read: string) =>
    `import { createCordon, tool } from 'cordon'\n` +
    `createCordon({ workspace: import.meta.dirname, tools: [tool({ name: 'report', policy: { filesystem: { read: [${read}] } }, run: () => 1 })] })\n`

  const withVariable = (value: string) =>
    tools("'/a'").replace('filesystem:', `environment: ['PLACE=${value}'], filesystem:`)

  it('whose values have no key yet names the command that makes it, and keeps it with acceptances', () => {
    const folder = newFolder()
    const entry = ['--entry', 'agent.mjs'] as const
    mkdirSync(join(folder, 'node_modules'))
    symlinkSync(CORE, join(folder, 'node_modules/cordon'))
    writeFileSync(join(folder, 'agent.mjs'), tools("'/a'"))
    git(folder, 'init', '-q', '-b', 'main')
    const generate = () => cordon(['manifest', 'generate', ...entry], { cwd: folder }).status
    expect(generate()).toBe(0)
    git(folder, 'add', FILE)
    git(folder, 'commit', '-q', '-m', 'one')
    writeFileSync(join(folder, 'agent.mjs'), withVariable('here'))
    const words = ['--baseline', 'main', ...entry] as const
    const keyFile = join(folder, '.cordon/manifest.key')

    expect(verifyIn(folder, ...words)).toMatchObject({
      status: 3,
      stderr: expect.stringMatching(/manifest-key-unmade[^]*cordon manifest generate\n/) as string,
    })
    expect(verifyIn(folder, '--baseline', FILE, ...entry).stderr).toContain('generate --out present.json')
    expect(existsSync(keyFile)).toBe(false)

    expect(generate()).toBe(0)
    const fingerprint = /[0-9a-f]{32}/.exec(verifyIn(folder, ...words).stdout)?.[0] ?? ''
    expect(verifyIn(folder, ...words, '--accept', fingerprint, '--reason', 'agreed').status).toBe(0)
    expect(generate()).toBe(0)
    expect(verifyIn(folder, ...words).status).toBe(0)

    rmSync(keyFile)
    git(folder, 'checkout', '-q', FILE)
    expect(verifyIn(folder, ...words, '--accept-all', '--reason', 'agreed').status).toBe(0)
    expect(existsSync(keyFile)).toBe(true)
    expect(generate()).toBe(0)
    expect(verifyIn(folder, ...words).status).toBe(0)
  })

  it('is compared as it is now, and acceptances survive a new manifest', () => {
    const folder = newFolder()
    const entry = ['--entry', 'agent.mjs'] as const
    mkdirSync(join(folder, 'node_modules'))
    execFileSync('ln', ['-s', CORE, join(folder, 'node_modules/cordon')])
    writeFileSync(join(folder, 'agent.mjs'), tools("'/a'"))
    expect(cordon(['manifest', 'generate', ...entry], { cwd: folder })).toMatchObject({ status: 0 })
    const words = ['--baseline', FILE, ...entry] as const
    expect(verifyIn(folder, ...words)).toMatchObject({ status: 0 })
    writeFileSync(join(folder, 'agent.mjs'), tools("'/a', '/b'"))
    expect(verifyIn(folder, ...words)).toMatchObject({
      status: 1,
      stdout: expect.stringContaining('`report` can now read /b') as string,
    })
    expect(verifyIn(folder, ...words, '--accept-all', '--reason', 'agreed').status).toBe(0)
    expect(cordon(['manifest', 'generate', ...entry], { cwd: folder }).status).toBe(0)
    expect(readFileSync(join(folder, FILE), 'utf8')).toContain('agreed')
    writeFileSync(join(folder, 'agent.mjs'), 'throw new Error("no")')
    expect(verifyIn(folder, ...words).status).toBe(3)
  })
})
