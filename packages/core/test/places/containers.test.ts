// Cordon inside containers as Docker, podman, containerd and Kubernetes make them. docs/containers.md has this table.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import type { Diagnosis } from '../cli/printed.js'
import { needs } from '../../../../test/requirement.js'
import { CORDON, CORE, REPOSITORY } from '../../../../test/repository.js'

import { startHostServer } from './host-server.js'
import { addedCalls, defaultProfile, ociContainer, profileWithout, shippedProfile } from './oci.js'
import type { OciSettings } from './oci.js'
import { IS_ROOT, imitated, obstacleTo, within } from './place.js'
import type { Place } from './place.js'
import { podmanContainer } from './podman.js'
import { fetchFromHost, reachGranted } from './scripts.js'
import { ran, visit } from './visit.js'

interface Setting {
  readonly place: Place
  readonly form: 'namespaces' | 'landlock'
  /** Whether the cell gets a /proc of its own. */
  readonly ownProc?: boolean
  /** Words of `cordon doctor` about the namespaces form. */
  readonly says?: { readonly because: string; readonly fix: string }
}

const RESTRICTED: Partial<OciSettings> = { user: 1000, capabilities: [], noNewPrivileges: true, readOnlyRoot: true }
const oci = (title: string, settings: OciSettings): Place => ociContainer(title, settings)
const plain = defaultProfile()
const shipped = shippedProfile()

const SECCOMP_OF_PODS = 'seccompProfile: { type: Localhost, localhostProfile: seccomp-cordon.json }'
const refusesClone = (what: string, fix: string) => ({
  says: { because: `the seccomp profile of this ${what} refuses clone`, fix },
})
const dockerFix = 'docker run --security-opt seccomp=deploy/seccomp-cordon.json'

const SETTINGS: readonly Setting[] = [
  {
    place: oci('Docker, its defaults', { seccomp: plain, signs: 'docker' }),
    form: 'landlock',
    ...refusesClone('docker container', dockerFix),
  },
  {
    place: oci('Docker, its defaults, `--user 1000`', { seccomp: plain, signs: 'docker', user: 1000 }),
    form: 'landlock',
    ...refusesClone('docker container', dockerFix),
  },
  {
    place: oci('Docker, `seccomp=deploy/seccomp-cordon.json`', { seccomp: shipped, signs: 'docker' }),
    form: 'namespaces',
  },
  {
    place: oci('Docker, the same and `--user 1000`', { seccomp: shipped, signs: 'docker', user: 1000 }),
    form: 'namespaces',
  },
  {
    place: oci('Docker, the same and `systempaths=unconfined`', { seccomp: shipped, signs: 'docker', masks: false }),
    form: 'namespaces',
    ownProc: true,
  },
  {
    place: oci('Docker, the same and `--cap-drop ALL`, as root', {
      seccomp: shipped,
      signs: 'docker',
      capabilities: [],
    }),
    form: 'landlock',
    says: { because: 'root has no capability CAP_SETFCAP here', fix: 'docker run --user 1000:1000' },
  },
  { place: oci('Docker, `seccomp=unconfined`', { seccomp: undefined, signs: 'docker' }), form: 'namespaces' },
  {
    place: oci('Kubernetes, restricted, `RuntimeDefault`', { ...RESTRICTED, seccomp: plain, signs: 'kubernetes' }),
    form: 'landlock',
    ...refusesClone('pod', SECCOMP_OF_PODS),
  },
  {
    place: oci('Kubernetes, restricted, `seccomp-cordon.json`', {
      ...RESTRICTED,
      seccomp: shipped,
      signs: 'kubernetes',
    }),
    form: 'namespaces',
  },
  {
    place: oci('Kubernetes, root without capabilities, `seccomp-cordon.json`', {
      seccomp: shipped,
      signs: 'kubernetes',
      capabilities: [],
      noNewPrivileges: true,
    }),
    form: 'landlock',
    says: { because: 'root has no capability CAP_SETFCAP here', fix: 'runAsUser: 1000' },
  },
  {
    place: oci('Kubernetes, `hostUsers: false`, `procMount: Unmasked`, `seccomp-cordon.json`', {
      seccomp: shipped,
      signs: 'kubernetes',
      ownUsers: true,
      masks: false,
    }),
    form: 'namespaces',
    ownProc: true,
  },
  {
    place: oci('containerd, its defaults', { seccomp: plain, signs: 'containerd' }),
    form: 'landlock',
    ...refusesClone('containerd container', SECCOMP_OF_PODS),
  },
  {
    place: oci('another runtime, its defaults', { seccomp: plain }),
    form: 'landlock',
    ...refusesClone('container', 'seccomp profile deploy/seccomp-cordon.json'),
  },
  { place: podmanContainer('podman, its defaults', { network: 'host' }), form: 'namespaces' },
  { place: podmanContainer('podman, `--user 1000`', { user: 'ordinary', network: 'host' }), form: 'namespaces' },
]

// A runtime that only root can use. The rootless ones are in podman.test.ts.
const OBSTACLE = IS_ROOT ? obstacleTo(SETTINGS[0]?.place ?? podmanContainer('')) : 'these containers need root'
const server = await startHostServer()

const doctorIn = ({ enter }: Place): Diagnosis => {
  const [program = '', ...args] = enter([process.execPath, CORDON, 'doctor', '--json'])
  const { stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', timeout: 200_000 })
  if (!stdout.startsWith('{')) throw new Error(`no diagnosis: ${stderr}`)
  return JSON.parse(stdout) as Diagnosis
}

const aboutNamespaces = ({ findings }: Diagnosis) => findings.find(({ what }) => what.startsWith('namespaces:'))

describe('the containers', () => {
  test('can be made', (context) => {
    needs(context, OBSTACLE === undefined, OBSTACLE ?? '')
  })
})

describe.runIf(OBSTACLE === undefined).each(SETTINGS)('in $place.title', ({ place, form, ownProc = false, says }) => {
  test('doctor names the form, and what to add for more', () => {
    const diagnosis = doctorIn(place)
    expect(diagnosis.form).toBe(form)
    expect(diagnosis.host.container).not.toBeNull()
    const finding = aboutNamespaces(diagnosis)
    if (form === 'namespaces') {
      expect(finding).toBeUndefined()
      expect(diagnosis.mechanisms?.['own_proc']).toMatchObject({ held: ownProc })
    } else if (says !== undefined) {
      expect(finding?.because).toContain(says.because)
      expect(finding?.fix).toContain(says.fix)
    }
    for (const { because, fix } of diagnosis.findings) expect(`${because} ${fix}`).not.toMatch(/see the stage/)
  })

  test('a granted host is reached, and another is refused', async () => {
    const found = await visit(place, {
      calls: {
        granted: { argv: reachGranted(server.port), policy: { network: [`host.test:${String(server.port)}`] } },
        refused: { argv: fetchFromHost(server.port) },
      },
    })
    const { stdout, violations, profile } = ran(found, 'granted')
    expect(profile.form).toBe(form)
    expect(stdout).toContain('blocking word of the host\n')
    expect(stdout).toContain('other-name gaierror\n')
    expect(violations).toContainEqual({ kind: 'lookup', name: 'other.test' })
    expect(ran(found, 'refused').exitCode).not.toBe(0)
  })
})

describe.runIf(OBSTACLE === undefined)('in a container on a kernel without Landlock', () => {
  const place = within(
    imitated('a kernel without Landlock', ['no-landlock']),
    oci('Docker', { seccomp: shipped, signs: 'docker' }),
  )

  test('every call is refused, and doctor names Landlock', async () => {
    const { calls } = await visit(place, { calls: { plain: { argv: ['/bin/true'] } } })
    expect(calls['plain']).toMatchObject({ kind: 'refused', code: 'host-cannot-hold' })
    const diagnosis = doctorIn(place)
    expect(diagnosis.form).toBeNull()
    expect(diagnosis.findings.map(({ what }) => what).join()).toContain('Landlock')
  })
})

describe.runIf(OBSTACLE === undefined)('a restricted pod with the shipped profile', () => {
  test.each(addedCalls())('without %s, doctor names this call', (call) => {
    const place = oci(`without ${call}`, { ...RESTRICTED, seccomp: profileWithout([call]), signs: 'kubernetes' })
    const diagnosis = doctorIn(place)
    expect(diagnosis.form).toBe('landlock')
    expect(aboutNamespaces(diagnosis)?.because).toContain(`refuses ${call} (`)
  })
})

test('AppArmor can read the profile for containers', (context) => {
  const { error, status, stderr } = spawnSync(
    '/usr/sbin/apparmor_parser',
    ['--skip-kernel-load', '--skip-cache', join(REPOSITORY, 'deploy', 'apparmor-cordon')],
    { encoding: 'utf8' },
  )
  needs(context, error === undefined, 'apparmor_parser is not installed')
  expect({ status, stderr }).toMatchObject({ status: 0 })
})

test('docs/containers.md has each of these places, with its form', () => {
  const page = readFileSync(join(CORE, 'docs', 'containers.md'), 'utf8')
  const rows = SETTINGS.map(({ place, form }) => `| ${place.title} | ${form} |`)
  expect(rows.filter((row) => !page.includes(row))).toEqual([])
})
