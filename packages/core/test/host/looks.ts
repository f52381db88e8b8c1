// What a served run or hook looks at is what its caller would look at: paths in /proc, lists of access, pipes, the log.
import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, closeSync, constants, mkdirSync, openSync, readFileSync, rmSync } from 'node:fs'
import { statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'

import { afterAll, describe, expect, test } from 'vitest'

import { ENDS_WHAT_HANGS_MS } from '../../../../test/hanging.js'
import { serverAuthority } from '../egress/servers.js'
import { FRONT, frontPlace, hostStarted, hostState, servedOf } from './front.js'
import type { Ran } from './front.js'

const place = frontPlace()
const { at, put } = place
const theirs = frontPlace()
const OFF = { CORDON_HOST: 'off' }
const RAN = { status: 0, stdout: 'x\n', stderr: '' }
const IS_ROOT = process.getuid?.() === 0
const USER = 65534
const AS_USER = ['setpriv', `--reuid=${String(USER)}`, `--regid=${String(USER)}`, '--clear-groups']

/** In the file of the other tests of the host: it is one process, and others stop it. */
export const testLooks = (): void => {
  describe('a look of the host', tests)
  describe.runIf(IS_ROOT)('a look of the host for an ordinary user', testsOfUser)
}

/** What ran with a host, if it ran so without one. `served`: by the host itself, not by a process of its own. */
const same = (work: (more: Readonly<Record<string, string>>) => Ran, expected: { readonly served: number }): Ran => {
  const alone = work(OFF)
  let ran = alone
  const served = servedOf(() => (ran = work({})))
  expect(ran).toEqual(alone)
  expect({ served }).toEqual(expected)
  return ran
}

/** Long enough for the memory to trust its stamps. */
const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 120))

const project = at('project')

const askFor = (tool: string, path: string, more: Readonly<Record<string, string>>): Ran => {
  const name = tool === 'Grep' ? 'path' : 'file_path'
  const { status, stdout, stderr } = spawnSync(FRONT, ['hook', 'claude-code', '--from-package'], {
    cwd: project,
    env: { ...place.environment, CLAUDE_PROJECT_DIR: project, ...more },
    encoding: 'utf8',
    timeout: ENDS_WHAT_HANGS_MS,
    input: JSON.stringify({
      session_id: 'one',
      cwd: project,
      hook_event_name: 'PreToolUse',
      permission_mode: 'default',
      tool_name: tool,
      tool_input: { [name]: path, pattern: 'x', content: 'x' },
    }),
  })
  return { status, stdout: stdout.replace(/cordon why [0-9a-f]+/, 'cordon why'), stderr }
}

const tests = (): void => {
  test('a file tool with a path through /proc is answered by a process of the caller', async () => {
    await hostStarted(place)
    put('.ssh/id', 'key\n')
    put('project/notes.txt', 'notes\n')
    // A host stands at the root of the file system, where this path has no link to the key.
    mkdirSync(join(project, project), { recursive: true })
    symlinkSync(at('.ssh/id'), join(project, project, 'notes.txt'))
    symlinkSync(`/proc/self/cwd${project}/notes.txt`, join(project, 'to-key.txt'))
    symlinkSync('/proc/self/cwd/notes.txt', join(project, 'to-notes.txt'))
    const asked = (tool: string, path: string, served: number): string =>
      same((more) => askFor(tool, path, more), { served }).stdout
    expect(asked('Read', join(project, 'notes.txt'), 1)).toBe('')
    expect(asked('Read', at('.ssh/id'), 1)).toContain('"deny"')
    expect(asked('Grep', project, 1)).toBe('')
    const before = hostState()?.refused ?? 0
    expect(asked('Read', join(project, 'to-key.txt'), 0)).toContain('"deny"')
    for (const path of [join(project, 'to-notes.txt'), '/proc/self/cwd/notes.txt', 'file:///proc/self/cwd/notes.txt'])
      for (const tool of ['Read', 'Write']) asked(tool, path, 0)
    asked('Grep', '/proc/self/cwd/', 0)
    expect((hostState()?.refused ?? 0) - before).toBe(8)
  })

  /** `START` is where the paths begin. */
  const redirects: readonly (readonly [name: string, target: string, file: string, text: string])[] = [
    ['core.hooksPath', 'hooks/file', '.git/config', '[core]\n\thooksPath = START/hooks\n'],
    ['include.path', 'more', '.git/config', '[include]\n\tpath = START/more\n'],
    ['a file .git', 'there/config', '.git', 'gitdir: START/there\n'],
    ['a link .git/hooks', 'hooks/file', '.git/hooks', 'START/hooks'],
    ['a link .mcp.json', 'more', '.mcp.json', 'START/more'],
    ['a link .envrc', 'more', '.envrc', 'START/more'],
  ]
  test.each(redirects)('%s that leads through /proc protects its target', (name, target, file, text) => {
    const redirected = (kind: string, start?: string) => {
      const folder = `${kind} ${name.replaceAll('/', ' ')}`
      const redirect = text.replace('START', start ?? at(folder))
      for (const path of ['hooks/file', 'more', 'there/config', 'there/HEAD', file])
        put(`${folder}/${path}`, path === file ? redirect : '')
      if (name.startsWith('a link')) {
        rmSync(at(`${folder}/${file}`))
        symlinkSync(redirect, at(`${folder}/${file}`))
      }
      const words = ['run', '--write', './**', '--', 'sh', '-c', `echo x > ${target} && echo WROTE`]
      const run = (more = {}) => place.run(words, more, ['env', '-C', at(folder)])
      return { run, written: () => readFileSync(at(`${folder}/${target}`), 'utf8') }
    }
    const plain = redirected('plain')
    expect(same(plain.run, { served: 1 }).stderr).toContain('Read-only')
    const odd = redirected('odd', '/proc/self/cwd')
    const ran = odd.run()
    if (ran.status === 125) expect(ran.stderr).toContain('leads through /proc')
    else expect(ran).toEqual(odd.run(OFF))
    expect({ stdout: ran.stdout, written: odd.written() }).toEqual({ stdout: '', written: '' })
  })

  test('a program that is a link through /proc is found by a process of the caller', () => {
    put('programs/tool', '#!/bin/sh\necho tool\n')
    chmodSync(at('programs/tool'), 0o755)
    symlinkSync('/proc/self/cwd/programs/tool', at('odd-tool'))
    symlinkSync('programs/tool', at('tool'))
    const ran =
      (name: string) =>
      (more = {}) =>
        place.run(['run', '--read', './**', '--exec', 'all', '--', `./${name}`], more)
    expect(same(ran('tool'), { served: 1 }).stdout).toBe('tool\n')
    expect(same(ran('odd-tool'), { served: 0 }).stdout).toBe('tool\n')
  })

  test('a pipe as the authority of upstream servers is read by a process of the caller', () => {
    put('authority.pem', serverAuthority.certificate)
    expect(spawnSync('mkfifo', [at('pipe.pem')]).status).toBe(0)
    const words = ['run', '--net', 'api.test', '--upstream-ca']
    const writer = ['sh', '-c', 'cat authority.pem > pipe.pem 2> /dev/null & exec "$@"', 'sh']
    const plain = (more = {}) => place.run([...words, './authority.pem', '--', 'echo', 'x'], more)
    const odd = (more = {}) => place.run([...words, './pipe.pem', '--', 'echo', 'x'], more, writer)
    expect(same(plain, { served: 1 })).toEqual(RAN)
    try {
      expect(same(odd, { served: 0 })).toEqual(RAN)
    } finally {
      // A writer that nobody read waits for a reader.
      closeSync(openSync(at('pipe.pem'), constants.O_RDONLY | constants.O_NONBLOCK))
    }
  })

  const ran = (more = {}) => place.run(['run', '--', 'echo', 'x'], more)

  test.runIf(IS_ROOT)('a log of another user is refused', () => {
    const log = at('.local/state/cordon/audit.jsonl')
    expect(same(ran, { served: 1 })).toEqual(RAN)
    try {
      chownSync(log, USER, USER)
      expect(ran(OFF).stderr).toContain('audit-unsafe-path')
      expect(ran()).toEqual(ran(OFF))
    } finally {
      chownSync(log, 0, 0)
    }
    expect(same(ran, { served: 1 })).toEqual(RAN)
  })

  test('a log that others may read is closed to them', () => {
    const log = at('.local/state/cordon/audit.jsonl')
    for (const more of [OFF, {}]) {
      chmodSync(log, 0o644)
      expect(ran(more)).toEqual(RAN)
      expect(statSync(log).mode & 0o777).toBe(0o600)
    }
    expect(same(ran, { served: 1 })).toEqual(RAN)
  })

  test('a policy whose folder is exchanged meanwhile is not remembered', { tags: ['matrix'] }, async () => {
    put('hidden', 'hidden\n')
    put('one/policy.yaml', 'filesystem: { read: ["./hidden", "!./hidden"] }\n')
    put('two/policy.yaml', 'filesystem: { read: ["./hidden"] }\n')
    for (let round = 0; round < 20; round += 1) {
      const more = ['--env', `N=${String(round)}`, '--', 'cat', 'hidden']
      const ran = (name: string) => place.run(['run', '--policy', `./${name}/policy.yaml`, ...more]).stdout
      const exchange = spawn('python3', ['-c', EXCHANGE, at('one'), at('two')], { stdio: ['pipe', 'pipe', 'inherit'] })
      await new Promise((resolve) => exchange.stdout.once('data', resolve))
      for (let run = 0; run < 3; run += 1) ran('one')
      exchange.stdin.end()
      await new Promise((resolve) => exchange.once('close', resolve))
      expect(readFileSync(at('one/policy.yaml'), 'utf8')).toContain('!')
      await settled()
      expect(ran('one'), `round ${String(round)}`).toBe('')
      expect(ran('two'), `round ${String(round)}`).toBe('hidden\n')
    }
  })
}

const testsOfUser = (): void => {
  const ran = (more = {}) => theirs.run(['run', '--', 'echo', 'x'], more, AS_USER)
  const host = (word: string) => theirs.run(['host', word], {}, AS_USER)
  const started = async (): Promise<void> => {
    chownSync(theirs.folder, USER, USER)
    await expect.poll(() => [ran().status, host('status').status]).toEqual([0, 0])
  }
  afterAll(() => void host('stop'))

  test('a log that its owner may not write to is not written to', async () => {
    await started()
    const log = theirs.at('.local/state/cordon/audit.jsonl')
    expect([ran(), ran(OFF)]).toEqual([RAN, RAN])
    chmodSync(log, 0o400)
    try {
      const alone = ran(OFF)
      expect(alone.stderr).toContain('audit-unwritable')
      expect(ran()).toEqual(alone)
    } finally {
      chmodSync(log, 0o600)
    }
    expect(ran()).toEqual(RAN)
  })

  test('a list of access that closes the folder of the rules counts in the next run', async () => {
    await started()
    const folder = theirs.at('.cordon')
    mkdirSync(folder, { mode: 0o755 })
    await settled()
    for (let run = 0; run < 3; run += 1) expect(ran()).toEqual(RAN)
    expect(spawnSync('python3', ['-c', CLOSE, folder, String(USER)]).status).toBe(0)
    expect(statSync(folder).mode & 0o777).toBe(0o755)
    const alone = ran(OFF)
    expect(alone.status).toBe(125)
    expect(ran()).toEqual(alone)
    expect(spawnSync('python3', ['-c', OPEN, folder]).status).toBe(0)
    expect([ran(), ran(OFF)]).toEqual([RAN, RAN])
  })
}

/** Closes a folder to one user by a list of access, which leaves its mode as it is. */
const CLOSE = `
import os, struct, sys; NOBODY = 0xffffffff
entries = [(1, 7, NOBODY), (2, 0, int(sys.argv[2])), (4, 5, NOBODY), (16, 5, NOBODY), (32, 5, NOBODY)]
value = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)
os.setxattr(sys.argv[1], "system.posix_acl_access", value)
`
const OPEN = 'import os, sys; os.removexattr(sys.argv[1], "system.posix_acl_access")'

/** Until its input ends. Leaves both folders where they were. */
const EXCHANGE = `
import ctypes, select, sys
exchange = ctypes.CDLL(None).renameat2
one, two = (path.encode() for path in sys.argv[1:])
print("exchanges", flush=True)
while not select.select([0], [], [], 0)[0]:
    for _ in range(2): exchange(-100, one, -100, two, 2)
`
