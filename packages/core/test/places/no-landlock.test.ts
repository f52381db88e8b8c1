// Kernels without Landlock. `auto` refuses every call there; the form `mounts`, if it is asked for, does without.
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { CORDON, REPOSITORY } from '../../../../test/repository.js'
import type { Diagnosis } from '../cli/printed.js'
import { lastingFolder } from '../attacks/playground.js'

import { startHostServer } from './host-server.js'
import { imitated } from './place.js'
import type { Place } from './place.js'
import { TALK_OVER_LOOPBACK, TALK_TO_ITSELF, fetchFromHost, reachGranted } from './scripts.js'
import { describePlace, expectNotRun, ran } from './visit.js'
import type { Visit, VisitRequest, VisitorCall } from './visit.js'

const server = await startHostServer()
const granted = [`host.test:${String(server.port)}`]
const [inside, outside] = [lastingFolder(), lastingFolder()]
writeFileSync(join(outside, 'file'), 'word of a file\n')
execFileSync('mkfifo', [join(outside, 'pipe')])

const python = (source: string): readonly string[] => ['/usr/bin/python3', '-B', '-c', source]
const withoutLandlock = (call: VisitorCall): VisitorCall => ({ form: 'mounts', ...call })

/** By the variables of the cell, and by hand: a program that knows of no proxy, a wrong password, another host. */
const BY_PROXY = python(`import os, socket, urllib.error, urllib.request
port = ${String(server.port)}
def fetched(url, **how):
    opener = urllib.request.build_opener(urllib.request.ProxyHandler(how or None))
    try: return opener.open(url, timeout=20).read().decode().strip()
    except urllib.error.HTTPError as e: return e.code
    except OSError as e: return type(e).__name__
print("proxy", fetched("http://host.test:%d/" % port))
print("other", fetched("http://other.test:%d/" % port))
print("stolen", fetched("http://host.test:%d/" % port, http="http://cordon:wrong@127.0.0.1:3128"))
try: socket.create_connection(("host.test", port), 5); print("direct reached")
except OSError: print("direct refused")
try: socket.create_connection(("127.0.0.1", port), 5); print("host reached")
except OSError: print("host refused")`)

const CALLS: NonNullable<VisitRequest['calls']> = {
  auto: { argv: ['/bin/true'] },
  namespaces: { argv: ['/bin/true'], form: 'namespaces' },
  ...Object.fromEntries(
    Object.entries<VisitorCall>({
      'plain': { argv: ['/bin/echo', 'well'] },
      'read': { argv: ['/bin/cat', join(outside, 'file')], policy: { filesystem: { read: [outside] } } },
      'unread': { argv: ['/bin/cat', join(outside, 'file')] },
      'write': {
        argv: ['/bin/sh', '-c', 'echo new > made; echo over > "$1"', 'sh', join(outside, 'file')],
        cwd: inside,
        policy: { filesystem: { read: [outside], write: [inside] } },
      },
      'pipe': {
        argv: python(`import os; os.open("${outside}/pipe", os.O_RDWR); print("opened")`),
        policy: { filesystem: { read: [outside] } },
      },
      'exec': { argv: ['/bin/sh', '-c', '/usr/bin/id; exit 3'], policy: { exec: 'none' } },
      'listed': { argv: ['/bin/sh', '-c', '/usr/bin/id -u; /bin/cat /dev/null; echo $?'], policy: { exec: ['id'] } },
      'loader': {
        argv: ['/bin/sh', '-c', `for l in /lib*/ld-linux*; do $l /usr/bin/id; done; echo end`],
        policy: { exec: 'none' },
      },
      'processes': { argv: python('import os; print(sum(name.isdigit() for name in os.listdir("/proc")))') },
      'device': { argv: ['/bin/true'], policy: { filesystem: { read: ['/dev/fuse'] } } },
      'device, to write': { argv: ['/bin/true'], policy: { filesystem: { write: ['/dev/fuse'] } } },
      'required': { argv: ['/bin/true'], policy: { require: ['landlock'] } },
      'required mounts': { argv: ['/bin/true'], policy: { require: ['mount-namespace', 'seccomp'] } },
      'refused': { argv: fetchFromHost(server.port) },
      'itself': { argv: TALK_OVER_LOOPBACK },
      'unix': { argv: TALK_TO_ITSELF },
      'by proxy': { argv: BY_PROXY, policy: { network: granted } },
      'granted': { argv: reachGranted(server.port), policy: { network: granted } },
      'broker': { argv: ['/bin/true'], policy: { network: granted, require: ['broker'] } },
      'all': { argv: fetchFromHost(server.port), policy: { network: 'all' } },
    }).map(([name, call]) => [name, withoutLandlock(call)]),
  ),
}

const REQUEST: VisitRequest = { calls: CALLS }
const DEVICE = existsSync('/dev/fuse')

const doctorIn = ({ enter }: Place, ...options: readonly string[]): string => {
  const [program = '', ...args] = enter([process.execPath, CORDON, 'doctor', ...options])
  return spawnSync(program, args, { encoding: 'utf8', timeout: 200_000 }).stdout
}

const claimsOfBoth = (found: () => Visit): void => {
  test('auto refuses every call, and names the option that does without Landlock', () => {
    expect(found().host).toMatchObject({ namespaces: { held: false, stage: 'landlock' }, mounts: { held: true } })
    expect(expectNotRun(found(), 'auto', 'host-cannot-hold').fix).toContain('--form mounts')
    expectNotRun(found(), 'namespaces', 'host-cannot-hold')
  })

  test('a cell without Landlock runs, and claims no Landlock', () => {
    const { stdout, profile } = ran(found(), 'plain')
    expect({ stdout, form: profile.form }).toEqual({ stdout: 'well\n', form: 'mounts' })
    expect(JSON.stringify(profile.enforced)).not.toContain('landlock')
    expect(profile.enforced['filesystem_read']).toEqual(['mount-namespace'])
  })

  test('files: granted ones can be read, others cannot, and only write roots change', () => {
    expect(ran(found(), 'read').stdout).toBe('word of a file\n')
    expect(ran(found(), 'unread')).toMatchObject({ exitCode: 1, stdout: '' })
    expect(ran(found(), 'write').exitCode).not.toBe(0)
    expect(readFileSync(join(inside, 'made'), 'utf8')).toBe('new\n')
    expect(readFileSync(join(outside, 'file'), 'utf8')).toBe('word of a file\n')
  })

  test('a pipe of the host in a readable folder can be written: SECURITY.md lists it', () => {
    expect(ran(found(), 'pipe').stdout).toBe('opened\n')
    expect(readFileSync(join(REPOSITORY, 'SECURITY.md'), 'utf8')).toContain('named pipe')
  })

  test('mounts limit programs, also for the loader, and listed ones run', () => {
    expect(ran(found(), 'exec')).toMatchObject({ exitCode: 3, stdout: '' })
    expect(ran(found(), 'listed').stdout).toBe(`${String(process.getuid?.())}\n126\n`)
    expect(ran(found(), 'loader').stdout).toBe('end\n')
    expect(ran(found(), 'exec').profile.enforced['exec']).toEqual(['mount-noexec'])
  })

  test('a tool sees only its own processes', () => {
    expect(ran(found(), 'processes').stdout).toBe('2\n')
  })

  test.runIf(DEVICE)('a device that may only be read is refused, because mounts do not keep it from writing', () => {
    expect(expectNotRun(found(), 'device', 'grant-inexpressible').message).toContain('device')
    expect(ran(found(), 'device, to write').exitCode).toBe(0)
  })

  test('a policy that requires Landlock is refused, and one that requires the mounts runs', () => {
    expect(expectNotRun(found(), 'required', 'host-cannot-hold').message).toContain('Landlock')
    expect(ran(found(), 'required mounts').exitCode).toBe(0)
  })

  test('a tool without a grant reaches nothing but itself', () => {
    expect(ran(found(), 'refused')).toMatchObject({ exitCode: 1, stdout: '' })
    expect(ran(found(), 'itself').stdout).toBe('own\n')
    expect(ran(found(), 'all').stdout).toBe('word of the host\n')
  })
}

const WITHOUT = imitated('a kernel without Landlock', ['no-landlock'])
const WITHOUT_BOTH = imitated('a kernel without Landlock and without a listener', ['no-landlock', 'no-listener'])

describePlace(
  WITHOUT,
  () => REQUEST,
  (found) => {
    claimsOfBoth(found)

    test('a program that knows of no proxy reaches a granted host', () => {
      const { stdout, profile } = ran(found(), 'granted')
      expect(stdout).toContain('blocking word of the host\n')
      expect(stdout).toContain('other-name gaierror\n')
      expect(profile.enforced['network']).toEqual(['network-namespace', 'seccomp', 'broker'])
      expect(ran(found(), 'broker').exitCode).toBe(0)
    })
  },
)

describePlace(
  WITHOUT_BOTH,
  () => REQUEST,
  (found) => {
    claimsOfBoth(found)

    test('a program that uses the proxy of its variables reaches a granted host, and no other', () => {
      const { stdout, profile, violations } = ran(found(), 'by proxy')
      expect(stdout).toBe('proxy word of the host\nother 403\nstolen 407\ndirect refused\nhost refused\n')
      expect(profile.enforced['network']).toEqual(['network-namespace', 'seccomp', 'proxy'])
      expect(violations).toContainEqual(expect.objectContaining({ kind: 'egress', host: 'other.test' }))
    })

    test('the proxy alone is no broker, and a policy that requires one is refused', () => {
      expectNotRun(found(), 'broker', 'host-cannot-hold')
    })

    test('Unix sockets, which nobody can judge, are refused', () => {
      expect(ran(found(), 'unix').exitCode).not.toBe(0)
    })
  },
)

describePlace(
  imitated('a kernel without Landlock and user namespaces', ['no-landlock', 'no-user-namespaces']),
  () => ({ calls: { auto: { argv: ['/bin/true'] }, mounts: { argv: ['/bin/true'], form: 'mounts' } } }),
  (found) => {
    test('no form is there, and none is named', () => {
      expect(expectNotRun(found(), 'auto', 'host-cannot-hold').fix).not.toContain('mounts')
      expectNotRun(found(), 'mounts', 'host-cannot-hold')
    })
  },
)

describe('cordon doctor on a kernel without Landlock', () => {
  test('says that no form is taken by itself, and names the option', () => {
    const diagnosis = JSON.parse(doctorIn(WITHOUT, '--json')) as Diagnosis
    expect(diagnosis).toMatchObject({ holds: false, form: null, forms: { mounts: { held: true } } })
    expect(diagnosis.why).toContain('--form mounts')
    expect(diagnosis.findings.find(({ what }) => what.startsWith('Landlock'))?.fix).toContain('--form mounts')
  })

  test('shows people what enforces each boundary in that form', () => {
    const text = doctorIn(WITHOUT)
    expect(text).toContain('--form mounts')
    expect(text).toMatch(/^ {2}boundary +mounts +landlock$/m)
    expect(text).toMatch(/^ {2}reading files +mount-namespace +-$/m)
  })
})
