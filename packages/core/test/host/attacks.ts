// Attempts to be served, or to serve, where nobody should be.
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { ENDS_WHAT_HANGS_MS } from '../../../../test/hanging.js'
import { frontPlace, hostStarted, hostState, servedOf, socketNow } from './front.js'

const place = frontPlace()
const WORDS = ['run', '--', 'echo', 'x'] as const
const RAN = { status: 0, stdout: 'x\n', stderr: '' }
const IS_ROOT = process.getuid?.() === 0
const NOBODY = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups']

/** In the file of the other tests of the host: it is one process, and others stop it. */
export const testAttacks = (): void => {
  describe('who must not be served, or serve', tests)
}

/** Asks the host as no front would. Prints how the connection ended. */
const ASK = `
import array, os, socket, struct, sys
path, folder, descriptors = sys.argv[1], sys.argv[2], int(sys.argv[3])
words = ["cordon", "run", "--", "touch", "made"]
texts = [folder, "f", str(len(words)), *words, "1", "HOME=" + os.environ.get("HOME", "/")]
request = b"".join(text.encode() + b"\\0" for text in texts)
connection = socket.socket(socket.AF_UNIX)
connection.settimeout(20)
try:
    connection.connect(path)
    frame = b"Q" + struct.pack("<I", len(request)) + request
    rights = array.array("i", [os.open("/dev/null", os.O_RDWR) for _ in range(descriptors)])
    connection.sendmsg([frame], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)] if descriptors else [])
    print("answer", connection.recv(5)[:1].decode() or "none")
except OSError as error:
    print(type(error).__name__)
`
const ask = (folder: string, around: readonly string[] = [], descriptors = 0): string => {
  const [program = 'python3', ...rest] = around.concat('python3')
  const words = [...rest, '-c', ASK, socketNow(), folder, String(descriptors)]
  const { stdout, stderr } = spawnSync(program, words, {
    encoding: 'utf8',
    env: place.environment,
    timeout: ENDS_WHAT_HANGS_MS,
  })
  return stdout.trim() || stderr
}

const tests = (): void => {
  test.runIf(IS_ROOT)('another user does not reach the socket, and is not answered where the folder is open', () => {
    const folder = dirname(socketNow())
    const [mode, ofSocket] = [statSync(folder).mode & 0o777, statSync(socketNow()).mode & 0o777]
    const asked = () => ask('/', NOBODY)
    expect(asked()).toBe('PermissionError')
    try {
      chmodSync(folder, 0o711)
      chmodSync(socketNow(), 0o777)
      expect(asked()).toMatch(/^(?:answer none|ConnectionResetError|BrokenPipeError)$/)
    } finally {
      chmodSync(socketNow(), ofSocket)
      chmodSync(folder, mode)
    }
    expect(servedOf(() => place.run(WORDS))).toBe(1)
  })

  test('a folder of the socket that others may enter serves nobody', () => {
    const folder = dirname(socketNow())
    try {
      chmodSync(folder, 0o755)
      expect(place.run(WORDS)).toEqual(RAN)
    } finally {
      chmodSync(folder, 0o700)
    }
    expect(servedOf(() => place.run(WORDS))).toBe(1)
  })

  test.runIf(IS_ROOT)('a folder of the socket that another user made serves nobody', async () => {
    const folder = dirname(socketNow())
    place.run(['host', 'stop'])
    const aside = join(dirname(folder), `${basename(folder)}-aside`)
    renameSync(folder, aside)
    try {
      mkdirSync(folder, { mode: 0o700 })
      chownSync(folder, 65534, 65534)
      expect(place.run(WORDS)).toEqual(RAN)
      const { status, stderr } = place.run(['host', 'serve'])
      expect(status).not.toBe(0)
      expect(stderr).toContain("is not this user's alone")
    } finally {
      rmSync(folder, { recursive: true })
      renameSync(aside, folder)
    }
    await hostStarted(place)
  })

  test('a cell that may write to the folder around finds no host there', () => {
    const folder = dirname(socketNow())
    const script = `echo ran; ls -A ${folder}; python3 -c '${ASK.replaceAll("'", '"')}' ${socketNow()} / 0`
    const words = [
      'run',
      '--read',
      `${dirname(folder)}/**`,
      '--write',
      './**',
      '--exec',
      'all',
      '--',
      'sh',
      '-c',
      script,
    ]
    const { stdout } = place.run(words)
    expect(stdout).toMatch(/^ran\n/)
    expect(stdout).not.toContain('answer')
    expect(stdout).not.toContain(basename(socketNow()))
    expect(ask('/')).toContain('answer')
  })

  test('a client that only says where it stands starts nothing', () => {
    mkdirSync(join(place.folder, 'elsewhere'), { recursive: true })
    for (const folder of [join(place.folder, 'elsewhere'), '/no/such/folder', 'relative', ''])
      // The launcher is a child of the client, and this one starts none.
      expect(ask(folder), folder).toMatch(/^(?:answer|ConnectionResetError)/)
    expect(readdirSync(join(place.folder, 'elsewhere'))).toEqual([])
    expect(servedOf(() => place.run(WORDS))).toBe(1)
  })

  test('descriptors that a client sends along do not stay', () => {
    const { pid = 0 } = hostState() ?? {}
    const open = (): number => readdirSync(`/proc/${String(pid)}/fd`).length
    const doors = readFileSync(`/proc/${String(pid)}/task/${String(pid)}/children`, 'utf8')
      .split(' ')
      .filter(Boolean)
    const before = open()
    for (let round = 0; round < 5; round += 1) ask('relative', [], 200)
    expect(servedOf(() => place.run(WORDS))).toBe(1)
    expect(open()).toBeLessThanOrEqual(before + 2)
    for (const door of doors) expect(readdirSync(`/proc/${door}/fd`).length).toBeLessThan(30)
  })

  test.runIf(IS_ROOT)('a full disk refuses the run, which does not begin, and the next one is served', () => {
    const state = join(place.folder, 'small')
    mkdirSync(state)
    expect(spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=256k,mode=700', 'tmpfs', state]).status).toBe(0)
    try {
      const more = { XDG_STATE_HOME: state }
      const words = ['run', '--write', './**', '--', 'sh', '-c', 'echo ran >> full-disk'] as const
      expect(servedOf(() => place.run(words, more))).toBe(1)
      spawnSync('sh', ['-c', `cat /dev/zero > ${state}/fill`], { stdio: 'ignore' })
      let refused
      expect(servedOf(() => (refused = place.run(words, more)))).toBe(1)
      expect(refused).toMatchObject({ status: 125, stderr: expect.stringContaining('audit-unwritable') as string })
      rmSync(join(state, 'fill'))
      expect(servedOf(() => place.run(words, more))).toBe(1)
      expect(readFileSync(join(place.folder, 'full-disk'), 'utf8')).toBe('ran\nran\n')
    } finally {
      spawnSync('umount', ['-l', state])
    }
  })

  test('a program in the place of the host gets a request only if it stands beside its caller', () => {
    place.run(['host', 'stop'])
    const socket = socketNow()
    const log = join(place.folder, 'fake.log')
    const asked = (around: readonly string[]): boolean => {
      writeFileSync(log, '')
      const start = `"$@" > ${log} 2>&1 & echo $!; until [ -s ${log} ]; do sleep 0.05; done`
      const [program = 'python3', ...rest] = around.concat('python3')
      const { stdout } = spawnSync('sh', ['-c', start, 'sh', program, ...rest, '-c', FAKE, socket], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      })
      try {
        expect(place.run(WORDS)).toEqual(RAN)
        return readFileSync(log, 'utf8').includes('request')
      } finally {
        process.kill(Number(stdout.trim()), 'SIGKILL')
        rmSync(socket, { force: true })
      }
    }
    expect(asked([])).toBe(true)
    expect(asked(['setpriv', '--no-new-privs'])).toBe(false)
    if (IS_ROOT) expect(asked(['setpriv', '--bounding-set', '-net_raw'])).toBe(false)
  })
}

const FAKE = `
import os, socket, sys
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
os.chmod(sys.argv[1], 0o777)
listener.listen()
print("listens", flush=True)
while True:
    connection, _ = listener.accept()
    print("request" if connection.recv(5)[:1] == b"Q" else "nothing", flush=True)
    connection.close()
`
