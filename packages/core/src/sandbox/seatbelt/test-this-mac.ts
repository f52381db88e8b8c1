// Prepares the targets of the self-test, and runs it twice: without a profile, and with one.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { ListenOptions } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { fail } from '../../errors/index.js'
import type { AbsolutePath } from '../../policy/index.js'
import { parsePolicy, resolvePolicy } from '../../policy/index.js'

import { SYSTEM_PATH } from '../grants/program.js'
import { runProgram } from '../host/run-program.js'
import type { Enforced } from '../plan/sandbox-profile.js'
import { planSeatbelt } from './plan-seatbelt.js'
import { confinedBy } from './profile-text.js'
import { SELF_TEST, readAttempts, refuseUnlessHeld } from './self-test.js'
import type { Attempts, Targets } from './self-test.js'
import { RESOLVER } from './system-needs.js'

export const testThisMac = (): Promise<Enforced> =>
  withTargets(RESOLVER, async (targets, folder) => {
    const outside = await tryOutside(targets)
    const policy = {
      filesystem: { read: [targets.granted], write: [targets.writable] },
      network: ['localhost'],
      exec: 'none',
    }
    const plan = planSeatbelt({
      boundary: resolvePolicy(parsePolicy(policy, 'self-test'), { workspace: folder, home: folder, kind: 'process' }),
      cwd: folder,
      program: process.execPath,
      searchPath: SYSTEM_PATH,
      temporary: join(folder, 'temporary') as AbsolutePath,
      port: targets.grantedPort,
    })
    return refuseUnlessHeld(outside, await attempt(confinedBy(plan, plan.program, wordsOf(targets))))
  })

export const wordsOf = (targets: Targets): readonly string[] => ['-e', SELF_TEST, JSON.stringify(targets)]

/** The same attempts without a boundary. What fails here was not refused by a boundary. */
export const tryOutside = async (targets: Targets): Promise<Attempts> => {
  const attempts = await attempt([process.execPath, ...wordsOf(targets)])
  rmSync(join(targets.writable, '.git'), { recursive: true, force: true })
  return attempts
}

const LONGEST_MS = 30_000
const MOST_OUTPUT = 1 << 20

const attempt = async (argv: readonly string[]): Promise<Attempts> => {
  const { stdout, stderr } = await runProgram({
    argv,
    cwd: '/',
    environment: { PATH: SYSTEM_PATH },
    stdin: new Uint8Array(),
    wall: LONGEST_MS,
    output: MOST_OUTPUT,
  })
  const attempts = readAttempts(Buffer.from(stdout).toString())
  if (attempts !== undefined) return attempts
  throw fail('host-cannot-hold', {
    mechanism: 'seatbelt',
    problem: `its self-test did not run: ${Buffer.from(stderr).toString().trim().slice(0, 400)}`,
    fix: 'run on Linux, or in a container (docs/macos.md)',
  })
}

/** Real files, sockets and processes for the attempts. They are removed afterwards. */
export const withTargets = async <Result>(
  resolver: string | undefined,
  use: (targets: Targets, folder: AbsolutePath) => Promise<Result>,
): Promise<Result> => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'cordon-test-'))) as AbsolutePath
  const at = (name: string) => join(folder, name)
  for (const name of ['granted', 'ungranted', 'writable', 'outside', 'temporary']) mkdirSync(at(name))
  for (const name of ['granted/file', 'ungranted/file']) writeFileSync(at(name), 'x')
  const servers = await Promise.all(
    [{ port: 0, host: '127.0.0.1' }, { port: 0, host: '127.0.0.1' }, { path: at('granted/socket') }].map(listen),
  )
  const [granted, other] = servers
  try {
    return await use(
      {
        granted: at('granted'),
        ungranted: at('ungranted'),
        writable: at('writable'),
        outside: at('outside'),
        grantedPort: granted?.port ?? 0,
        otherPort: other?.port ?? 0,
        socket: at('granted/socket'),
        resolver: resolver ?? at('granted/socket'),
        program: '/usr/bin/true',
        host: process.pid,
      },
      folder,
    )
  } finally {
    for (const { close } of servers) close()
    rmSync(folder, { recursive: true, force: true })
  }
}

const listen = (where: ListenOptions): Promise<{ readonly port: number; readonly close: () => void }> =>
  new Promise((resolve, reject) => {
    const server = createServer((stream) => stream.on('error', () => undefined).end()).once('error', reject)
    server.listen(where, () => {
      const address = server.address()
      resolve({
        port: typeof address === 'object' && address !== null ? address.port : 0,
        close: () => server.close(),
      })
    })
  })
