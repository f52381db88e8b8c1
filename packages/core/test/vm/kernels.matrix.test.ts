// The kernels that people have: guests where the packed packages are installed, and what `cordon doctor`, calls and the
// attack programs do there, as root and as an ordinary user. `npm run test:guests` starts all.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { beforeAll, describe, expect, test } from 'vitest'

import { CORE } from '../../../../test/repository.js'
import { GUESTS, SHORT_GUESTS } from '../../../../scripts/tests/guest-parts.mjs'
import type { Guest } from '../../../../scripts/tests/guest-parts.mjs'
import type { Diagnosis } from '../cli/printed.js'
import { FORMS } from '../../src/policy/index.js'
import { escapedFrom } from '../attacks/outcomes.js'
import type { Route } from '../attacks/outcomes.js'
import { lastingFolder } from '../attacks/playground.js'
import { needs } from '../../../../test/requirement.js'

import type { Fact } from './emulator.js'
import { ATTACKS, ONLY_CONFINED, SERVICES } from './guest-attacks.js'
import { obstacleToGuest, runGuest } from './kernels-guest.js'

/** Without this, one guest and no settings are tried. `npm run test:guests` tries everything. */
const IS_ALL = process.env['CORDON_TEST_GUESTS'] === 'all'

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

const PAGE = readFileSync(join(CORE, 'docs/kernels.md'), 'utf8')

const describeGuest = (guest: Guest): void => {
  const obstacle = obstacleToGuest(guest)
  const folder = lastingFolder()
  let facts: readonly Fact[] = []
  let noise = ''
  const fact = (place: string, name: string): unknown =>
    facts.find((told) => told.place === place && told.name === name)?.value
  const hasLandlock = guest.landlock > 0
  const settings = IS_ALL && hasLandlock ? 'try-settings' : 'no-settings'

  describe(`a guest: ${guest.name}`, () => {
    beforeAll(async () => {
      if (obstacle === undefined)
        ({ facts, noise } = await runGuest(guest, [...Object.keys(ATTACKS), ...SERVICES], settings, folder))
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

      if (hasLandlock)
        test('doctor finds all forms, and the version of Landlock', () => {
          const { status, stderr, diagnosis } = examined()
          expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
          expect(diagnosis).toMatchObject({
            holds: true,
            form: 'namespaces',
            host: { architecture: guest.node, user: place === 'root' ? 'root' : 'ordinary', container: null },
            forms: { namespaces: { held: true }, landlock: { held: true }, mounts: { held: true } },
            walls: [
              { backend: 'bubblewrap', held: true },
              { backend: 'firejail', held: false },
            ],
            mechanisms: { landlock: { held: true, abi: guest.landlock } },
          })
        })
      else
        test('doctor says why there is no Landlock, and which form does without', () => {
          const { status, diagnosis } = examined()
          expect(status).toBe(1)
          expect(diagnosis).toMatchObject({ holds: false, form: null })
          expect(diagnosis.findings.map(({ because }) => because).join('\n')).toMatch(
            guest.words.length === 0
              ? /Linux 5\.10\S* does not have it \(5\.13\)/
              : /not among the active security modules \(\S*apparmor/,
          )
          expect(diagnosis.why.includes('--form mounts')).toBe(guest.forms.includes('mounts'))
        })

      test('a call runs inside bubblewrap where the kernel has Landlock', () => {
        expect(fact(place, 'call in bubblewrap')).toMatchObject(
          hasLandlock ? { status: 'exited', exitCode: 0, stdout: 'well\n' } : { status: 'refused' },
        )
      })

      const refusing = FORMS.filter((form) => !guest.forms.includes(form))
      test.each(refusing)('nothing runs in a form that the kernel lacks (%s)', (form) => {
        expect(fact(place, `call (${form})`)).toMatchObject({ status: 'refused' })
        expect(fact(place, `cordon run (${form})`)).toMatchObject({ status: 125, stdout: '' })
      })

      describe.each(guest.forms)('%s', (form) => {
        test('a call runs with its grants and nothing else', () => {
          expect(fact(place, `call (${form})`)).toMatchObject({ status: 'exited', exitCode: 0, form, stdout: 'well\n' })
          expect(fact(place, `cordon run (${form})`)).toMatchObject({
            status: 1,
            stdout: 'granted\n',
            stderr: expect.stringMatching(/^cat: \/home\/user\/secret: /) as string,
          })
        })

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

        if (guest.node === 'x64')
          test('32-bit and x32 calls are killed', () => {
            const { routes } = fact(place, `wrong-architecture (${form})`) as Attacked
            expect(routes.map(({ route, detail }) => `${route}: ${detail}`)).toEqual([
              '32-bit-program: nothing happened: killed by signal 31',
              'int-80: killed by signal 31',
              'x32: killed by signal 31',
              'x32-special: killed by signal 31',
            ])
          })
      })

      if (guest.forms.length > 0) {
        test('cells are built by the launcher of the npm package', () => {
          expect(fact(place, 'launcher')).toBe(
            `/opt/project/node_modules/@cordon/launcher-linux-${guest.node}/bin/cordon-cell`,
          )
        })

        test.each(Object.keys(ATTACKS).filter((name) => !ONLY_CONFINED.includes(name)))(
          '%s works without a cell',
          (name) => {
            expect(escapedWithoutCell(name)).not.toEqual([])
          },
        )

        if (guest.node === 'x64')
          test('32-bit calls work without a cell', () => {
            expect(escapedWithoutCell('wrong-architecture')).toEqual(
              expect.arrayContaining(['32-bit-program', 'int-80']),
            )
          })
      }

      test('docs/kernels.md has this result', () => {
        expect(PAGE).toContain(rowOf(guest, place, examined().diagnosis))
      })
    })

    if (settings === 'try-settings')
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
const rowOf = (guest: Guest, place: string, { host, forms }: Diagnosis): string => {
  const [release = ''] = /^\d+\.\d+/.exec(host.kernel) ?? []
  const held = FORMS.filter((name) => forms?.[name].held === true)
  return (
    `| ${guest.target} | ${release} | ${guest.landlock === 0 ? 'none' : String(guest.landlock)} | ${place} | ` +
    `${held.length === 0 ? 'none | nothing runs' : `${held.join(', ')} | no attack escapes`} |`
  )
}

for (const guest of IS_ALL ? GUESTS : SHORT_GUESTS) describeGuest(guest)
