// Tries attacks on this Mac, outside and inside of a profile. Only what worked outside and failed inside is claimed.
import { fail } from '../../errors/index.js'
import { isMapping } from '../../shapes/index.js'
import type { Enforced } from '../plan/sandbox-profile.js'

export interface Targets {
  readonly granted: string
  readonly ungranted: string
  readonly writable: string
  readonly outside: string
  readonly grantedPort: number
  readonly otherPort: number
  readonly socket: string
  readonly resolver: string
  readonly program: string
  readonly host: number
}

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
export const SELF_TEST = `
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
const claimsOf = (outside: Attempts, inside: Attempts): Enforced => {
  const refused = (boundary: string) =>
    Object.entries(ATTACKS)
      .filter(([, tried]) => tried === boundary)
      .every(([name]) => outside[name as keyof Attempts] === 'done' && inside[name as keyof Attempts] === 'failed')
  return Object.fromEntries(BOUNDARIES.map((boundary) => [boundary, refused(boundary) ? ['seatbelt'] : []]))
}

export const refuseUnlessHeld = (outside: Attempts, inside: Attempts): Enforced => {
  const refuse = (problem: string) =>
    fail('host-cannot-hold', { mechanism: 'seatbelt', problem, fix: 'run on Linux, or in a container (docs/macos.md)' })
  const broken = TWINS.filter((name) => outside[name] === 'failed' || inside[name] === 'failed')
  if (broken.length > 0) throw refuse(`its self-test could not do what was granted: ${broken.join(', ')}`)
  const claims = claimsOf(outside, inside)
  const open = ESSENTIAL.filter((boundary) => claims[boundary]?.length !== 1)
  if (open.length > 0) throw refuse(`its self-test was not refused: ${open.join(', ')}`)
  return claims
}
