// The kernels that people have: guests where the packed packages are installed, and what `cordon doctor`, calls and the
// attack programs do there, as root and as an ordinary user (`npm run test:guests`).
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { beforeAll, describe, expect, test } from 'vitest'

import { GUESTS } from '../../scripts/guest-parts.mjs'
import type { Guest } from '../../scripts/guest-parts.mjs'
import type { Diagnosis } from '../../src/cli/doctor/diagnosis.js'
import { escapedFrom } from '../attacks/outcomes.js'
import type { Exceptions, Route } from '../attacks/outcomes.js'
import { lastingFolder } from '../attacks/playground.js'
import { ROOT } from '../packed-package.js'
import { needs } from '../requirement.js'

import type { Fact } from './emulator.js'
import { obstacleToGuest, runGuest } from './kernels-guest.js'

const chosen = process.env['CORDON_TEST_GUESTS'] === 'all' ? GUESTS : GUESTS.slice(0, 1)

const FORMS = ['namespaces', 'landlock'] as const
type Form = (typeof FORMS)[number]

interface Examined {
  readonly status: number
  readonly stderr: string
  readonly diagnosis: Diagnosis
}

interface Attacked {
  readonly status: string
  readonly exitCode: number
  readonly stderr: string
  readonly routes: readonly Route[]
  readonly leaked: boolean
  readonly after?: Readonly<Record<string, unknown>>
}

interface Attack {
  /** Routes that may succeed, with the reason. */
  readonly except?: (form: Form) => Exceptions
  /** What the attacked service says at the end. */
  readonly after?: unknown
}

const NO_ARRIVALS = Object.fromEntries(
  ['tcp', 'tcp6', 'udp', 'udp6', 'unix', 'unixDatagram', 'abstract', 'abstractDatagram'].map((name) => [name, 0]),
)

// The same exceptions as in test/attacks.
const ATTACKS: Readonly<Record<string, Attack>> = {
  'read-path': {},
  'write-outside': {},
  'metadata': {},
  'carve-out': {},
  'new-namespaces': {},
  'kernel-interfaces': {
    except: () => ({
      'ptrace-traceme': 'debuggers start their children so',
      'process_vm_readv-self': 'the same: of itself and its own children',
      'personality': 'gives nobody any right',
    }),
  },
  'root-power': {},
  'wrong-architecture': {},
  'exec-policy': {},
  'host-ipc': { after: { untouched: true } },
  'other-processes': {
    except: (form) =>
      form === 'namespaces'
        ? {}
        : {
            'getsid': 'tells that a process exists',
            'f-setown': 'may be asked for; the signal itself is dropped, as the victim shows',
          },
    after: { signals: 0, memory: 'SECRET in memory' },
  },
  'sockets': {
    except: (form) =>
      form === 'namespaces'
        ? Object.fromEntries(
            ['udp', 'udp-sendmmsg', 'udp6', 'udp-connect'].map((name) => [name, 'a datagram to nobody']),
          )
        : {},
    after: NO_ARRIVALS,
  },
  'unix-sockets': { after: NO_ARRIVALS },
  'supervisor': {},
  'deputy': {},
}

/** They change or kill what is around them, so the guest does not try them without a cell. */
const ONLY_CONFINED = ['supervisor', 'deputy']

/** Programs of the guest that attacks try to reach. */
const SERVICES = ['ipc-host', 'victim', 'host-listeners']

const PAGE = readFileSync(join(ROOT, 'docs/kernels.md'), 'utf8')

const describeGuest = (guest: Guest): void => {
  const obstacle = obstacleToGuest(guest)
  const folder = lastingFolder()
  let facts: readonly Fact[] = []
  let noise = ''
  const fact = (place: string, name: string): unknown =>
    facts.find((told) => told.place === place && told.name === name)?.value
  const hasLandlock = guest.landlock > 0

  describe(`a guest: ${guest.name}`, () => {
    beforeAll(async () => {
      if (obstacle === undefined)
        ({ facts, noise } = await runGuest(guest, [...Object.keys(ATTACKS), ...SERVICES], folder))
    }, 1_800_000)

    test('starts, and ends by itself', (context) => {
      needs(context, obstacle === undefined, String(obstacle))
      expect(
        facts.filter(({ name }) => name === 'failure'),
        noise,
      ).toEqual([])
      expect(fact('machine', 'end'), noise).toBe(true)
    })

    describe.runIf(obstacle === undefined).each(['root', 'user'])('as %s', (place) => {
      const examined = (): Examined => fact(place, 'doctor') as Examined
      const escapedWithoutCell = (name: string): readonly string[] =>
        (fact(place, `${name} without a cell`) as { readonly escaped: readonly string[] }).escaped

      if (hasLandlock) {
        test('doctor finds both forms, and the version of Landlock', () => {
          const { status, stderr, diagnosis } = examined()
          expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
          expect(diagnosis).toMatchObject({
            holds: true,
            form: 'namespaces',
            host: { architecture: guest.node, user: place === 'root' ? 'root' : 'ordinary', container: null },
            forms: { namespaces: { held: true }, landlock: { held: true } },
            mechanisms: { landlock: { held: true, abi: guest.landlock } },
          })
        })

        test('cells are built by the launcher of the npm package', () => {
          expect(fact(place, 'launcher')).toBe(
            `/opt/project/node_modules/@cordon/launcher-linux-${guest.node}/bin/cordon-cell`,
          )
        })

        test.each(FORMS)('a call runs with its grants and nothing else (%s)', (form) => {
          expect(fact(place, `call (${form})`)).toMatchObject({ status: 'exited', exitCode: 0, form, stdout: 'well\n' })
          expect(fact(place, `cordon run (${form})`)).toMatchObject({
            status: 1,
            stdout: 'granted\n',
            stderr: expect.stringMatching(/^cat: \/home\/user\/secret: /) as string,
          })
        })

        describe.each(FORMS)('%s', (form) => {
          test.each(Object.entries(ATTACKS))('%s escapes by no route', (name, { except, after }) => {
            const { routes, leaked, ...told } = fact(place, `${name} (${form})`) as Attacked
            expect(told).toMatchObject({
              // Without a place for a decoy beside a carved-out file this program ends early, as in test/attacks.
              ...(name === 'carve-out' && form === 'landlock' ? {} : { status: 'exited', exitCode: 0, stderr: '' }),
              ...(after === undefined ? {} : { after }),
            })
            expect(routes.length).toBeGreaterThan(0)
            expect(escapedFrom(routes, except?.(form)), 'routes that escaped').toEqual([])
            expect(leaked).toBe(false)
          })

          test.runIf(guest.node === 'x64')('32-bit and x32 calls are killed', () => {
            const { routes } = fact(place, `wrong-architecture (${form})`) as Attacked
            expect(routes.map(({ route, detail }) => `${route}: ${detail}`)).toEqual([
              '32-bit-program: nothing happened: killed by signal 31',
              'int-80: killed by signal 31',
              'x32: killed by signal 31',
              'x32-special: killed by signal 31',
            ])
          })
        })

        test.each(Object.keys(ATTACKS).filter((name) => !ONLY_CONFINED.includes(name)))(
          '%s works without a cell',
          (name) => {
            expect(escapedWithoutCell(name)).not.toEqual([])
          },
        )

        test.runIf(guest.node === 'x64')('32-bit calls work without a cell', () => {
          expect(escapedWithoutCell('wrong-architecture')).toEqual(expect.arrayContaining(['32-bit-program', 'int-80']))
        })
      } else {
        test('doctor says that the kernel has no Landlock, and nothing runs', () => {
          const { status, diagnosis } = examined()
          expect(status).toBe(1)
          expect(diagnosis).toMatchObject({ holds: false, form: null })
          expect(diagnosis.findings.map(({ because }) => because).join('\n')).toMatch(
            /Linux 5\.10\S* does not have it \(5\.13\)/,
          )
          for (const form of FORMS) {
            expect(fact(place, `call (${form})`)).toMatchObject({ status: 'refused' })
            expect(fact(place, `cordon run (${form})`)).toMatchObject({ status: 125, stdout: '' })
          }
        })
      }

      test('docs/kernels.md has this result', () => {
        expect(PAGE).toContain(rowOf(guest, place, examined().diagnosis))
      })
    })

    if (hasLandlock)
      describe.runIf(obstacle === undefined)('doctor names what refuses namespaces', () => {
        test('an AppArmor profile without a rule for mounts', () => {
          const { diagnosis } = fact('settings', 'apparmor refuses-mounts') as Examined
          expect(diagnosis).toMatchObject({ holds: true, form: 'landlock' })
          expect(diagnosis.findings[0]?.because).toContain('the AppArmor profile refuses-mounts refuses ')
        })

        test('nothing under the AppArmor profile of deploy/', () => {
          expect(fact('settings', 'apparmor cordon')).toMatchObject({ diagnosis: { form: 'namespaces' } })
        })

        test.each(SETTINGS)('%s', (name, because) => {
          const { diagnosis } = fact('settings', name) as Examined
          expect(diagnosis).toMatchObject({ holds: true, form: 'landlock' })
          expect(diagnosis.findings[0]?.because).toContain(because)
        })
      })
  })
}

const SETTINGS = [
  ['user/max_user_namespaces', 'user.max_user_namespaces is 0'],
  ['kernel/unprivileged_userns_clone', 'kernel.unprivileged_userns_clone is 0'],
] as const

/** One line of the table in docs/kernels.md. */
const rowOf = (guest: Guest, place: string, { host, forms, form }: Diagnosis): string => {
  const [release = ''] = /^\d+\.\d+/.exec(host.kernel) ?? []
  const held = FORMS.filter((name) => forms?.[name].held === true)
  return (
    `| ${guest.target} | ${release} | ${guest.landlock === 0 ? 'none' : String(guest.landlock)} | ${place} | ` +
    `${held.length === 0 ? 'none' : held.join(', ')} | ${form === null ? 'nothing runs' : 'no attack escapes'} |`
  )
}

for (const guest of chosen) describeGuest(guest)
