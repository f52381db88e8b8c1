// Tries attacks on this Mac, outside and inside of a profile. Only what worked outside and failed inside is claimed.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { fail } from '../../errors/index.js'
import type { AbsolutePath } from '../../policy/index.js'
import { parsePolicy, resolvePolicy } from '../../policy/index.js'
import { isMapping } from '../../shapes/index.js'

import { SYSTEM_PATH } from '../grants/program.js'
import { runProgram } from '../host/plain-process.js'
import type { EnforcedBy } from '../plan/sandbox-profile.js'
import { planSeatbelt } from './plan-seatbelt.js'
import { confinedBy } from './profile-text.js'
import { listen } from './proxy-port.js'
import { RESOLVER } from './system-needs.js'

export const testThisMac = (): Promise<EnforcedBy> =>
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
  const [granted, other, named] = [silentServer(), silentServer(), silentServer()]
  try {
    const grantedPort = await listen(granted, { port: 0, host: '127.0.0.1' })
    const otherPort = await listen(other, { port: 0, host: '127.0.0.1' })
    await listen(named, { path: at('granted/socket') })
    return await use(
      {
        granted: at('granted'),
        ungranted: at('ungranted'),
        writable: at('writable'),
        outside: at('outside'),
        grantedPort,
        otherPort,
        socket: at('granted/socket'),
        resolver: resolver ?? at('granted/socket'),
        program: '/usr/bin/true',
        host: process.pid,
      },
      folder,
    )
  } finally {
    for (const server of [granted, other, named]) server.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

const silentServer = () => createServer((stream) => stream.on('error', () => undefined).end())

type Paths = 'granted' | 'ungranted' | 'writable' | 'outside' | 'socket' | 'resolver' | 'program'
type Targets = Readonly<Record<Paths, string> & Record<'grantedPort' | 'otherPort' | 'host', number>>

/** What a granted program must be able to do. Without these, a refusal would show nothing. */
const TWINS = ['read-granted', 'write-granted', 'connect-granted', 'start-granted', 'signal-self'] as const

/** Each attack with the boundary that has to refuse it. */
const ATTACKS = {
  'read-ungranted': 'filesystem_read',
  'list-ungranted': 'file_names',
  'write-outside': 'filesystem_write',
  'touch-outside': 'file_metadata',
  'make-protected': 'carve_outs',
  'connect-other-port': 'network',
  'ask-resolver': 'network',
  'connect-socket': 'unix_sockets',
  'start-unlisted': 'exec',
  'signal-host': 'processes',
} as const

/** A Mac on which one of these is not held gets no Seatbelt. The others are only missing in the record. */
const ESSENTIAL = ['filesystem_read', 'filesystem_write', 'carve_outs', 'network', 'unix_sockets', 'exec', 'processes']

const BOUNDARIES = [...new Set(Object.values(ATTACKS))]

export type Attempts = Readonly<Record<keyof typeof ATTACKS | (typeof TWINS)[number], 'done' | 'failed'>>

/** The program of the test, for `node -e`: it prints what it could do, as JSON. */
const SELF_TEST = `
const fs = require('node:fs'), net = require('node:net'), { spawnSync } = require('node:child_process')
const t = JSON.parse(process.argv[1])
const connect = (...to) => new Promise((resolve, reject) => {
  const socket = net.connect(...to, () => { socket.destroy(); resolve() }).on('error', reject)
})
const start = (...argv) => { const { error, status } = spawnSync(...argv); if (error || status !== 0) throw error }
const attempts = {
  'read-granted': () => fs.readFileSync(t.granted + '/file'),
  'read-ungranted': () => fs.readFileSync(t.ungranted + '/file'),
  'list-ungranted': () => fs.readdirSync(t.ungranted),
  'write-granted': () => fs.writeFileSync(t.writable + '/new', 'x'),
  'write-outside': () => fs.writeFileSync(t.outside + '/new', 'x'),
  'touch-outside': () => fs.utimesSync(t.ungranted + '/file', 1, 1),
  'make-protected': () => fs.mkdirSync(t.writable + '/.git/hooks', { recursive: true }),
  'connect-granted': () => connect(t.grantedPort, '127.0.0.1'),
  'connect-other-port': () => connect(t.otherPort, '127.0.0.1'),
  'ask-resolver': () => connect(t.resolver),
  'connect-socket': () => connect(t.socket),
  'start-granted': () => start(process.execPath, ['-e', '0']),
  'start-unlisted': () => start(t.program, []),
  'signal-self': () => process.kill(process.pid, 0),
  'signal-host': () => process.kill(t.host, 0),
}
const done = {}
const main = async () => {
  for (const [name, attempt] of Object.entries(attempts)) {
    try { await attempt(); done[name] = 'done' } catch { done[name] = 'failed' }
  }
  console.log(JSON.stringify(done))
}
main()
`

const NAMES = [...TWINS, ...Object.keys(ATTACKS)]

export const readAttempts = (output: string): Attempts | undefined => {
  try {
    const value: unknown = JSON.parse(output)
    if (!isMapping(value)) return undefined
    return NAMES.every((name) => value[name] === 'done' || value[name] === 'failed') ? (value as Attempts) : undefined
  } catch {
    return undefined
  }
}

/** The boundaries that were shown to hold. Pure. */
const claimsOf = (outside: Attempts, inside: Attempts): EnforcedBy => {
  const refused = (boundary: string) =>
    Object.entries(ATTACKS)
      .filter(([, tried]) => tried === boundary)
      .every(([name]) => outside[name as keyof Attempts] === 'done' && inside[name as keyof Attempts] === 'failed')
  return Object.fromEntries(BOUNDARIES.map((boundary) => [boundary, refused(boundary) ? ['seatbelt'] : []]))
}

export const refuseUnlessHeld = (outside: Attempts, inside: Attempts): EnforcedBy => {
  const refuse = (problem: string) =>
    fail('host-cannot-hold', { mechanism: 'seatbelt', problem, fix: 'run on Linux, or in a container (docs/macos.md)' })
  const broken = TWINS.filter((name) => outside[name] === 'failed' || inside[name] === 'failed')
  if (broken.length > 0) throw refuse(`its self-test could not do what was granted: ${broken.join(', ')}`)
  const claims = claimsOf(outside, inside)
  const open = ESSENTIAL.filter((boundary) => claims[boundary]?.length !== 1)
  if (open.length > 0) throw refuse(`its self-test was not refused: ${open.join(', ')}`)
  return claims
}
