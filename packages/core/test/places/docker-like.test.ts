import { expect, test } from 'vitest'

import { startHostServer } from './host-server.js'
import { dockerLike, imitated } from './place.js'
import { LISTEN, TALK_TO_ITSELF, fetchFromHost, fetchWithoutBlocking, reachGranted } from './scripts.js'
import { describePlace, expectNotRun, ran } from './visit.js'
import type { VisitRequest } from './visit.js'

// Some profiles also refuse what the keeper has another way for.
const SUCH_PLACES = [
  dockerLike,
  imitated('a profile like it that also refuses process_vm_readv and openat2', [
    'masked-proc',
    'container-capabilities',
    'no-user-namespaces',
    'no-mounts',
    'no-pidfd-getfd',
    'no-process-vm',
    'no-openat2',
  ]),
]

const server = await startHostServer()

const REQUEST: VisitRequest = {
  warm: true,
  calls: {
    'plain': { argv: ['/bin/echo', 'well'] },
    'namespaces': { argv: ['/bin/true'], form: 'namespaces' },
    'required': { argv: ['/bin/true'], policy: { require: ['mount-namespace'] } },
    'own': { argv: TALK_TO_ITSELF },
    'listen': { argv: LISTEN },
    'refused': { argv: fetchFromHost(server.port) },
    'granted': { argv: fetchFromHost(server.port), policy: { network: 'all' } },
    'granted, without blocking': { argv: fetchWithoutBlocking(server.port), policy: { network: 'all' } },
    'hosts': { argv: reachGranted(server.port), policy: { network: [`host.test:${String(server.port)}`] } },
    'processes': {
      argv: ['/bin/sh', '-c', 'for i in 1 2 3 4 5 6; do sleep 1 & done; wait'],
      policy: { limits: { processes: 4 } },
    },
    'observed': { argv: ['/bin/cat', '/etc/shadow'], observe: 'everything' },
    'signals': { argv: ['/bin/sh', '-c', 'sleep 30 & kill $!; wait $!; echo $?'] },
  },
}

for (const place of SUCH_PLACES) {
  let connectionsBefore = 0
  const request = () => {
    connectionsBefore = server.connections()
    return REQUEST
  }
  describePlace(place, request, (found) => {
    test('a cell takes the landlock form, and the facts name the refused system call', () => {
      expect(ran(found(), 'plain')).toMatchObject({
        status: 'exited',
        exitCode: 0,
        stdout: 'well\n',
        profile: { form: 'landlock' },
      })
      expect(found().host.namespaces).toEqual({
        held: false,
        stage: 'user-namespace',
        problem: expect.stringContaining('Operation not permitted') as string,
      })
      expect(found().host).toMatchObject({
        landlock: { held: true },
        listener: { held: true },
        measuring: { held: true },
      })
      expect(found().host.borrowing).toEqual({
        held: false,
        stage: 'seccomp-listener',
        problem: 'pidfd_getfd is refused',
      })
    })

    test('the profile claims nothing that needs namespaces', () => {
      const { enforced } = ran(found(), 'plain').profile
      expect(
        Object.values(enforced)
          .flat()
          .filter((mechanism) => mechanism.endsWith('-namespace')),
      ).toEqual([])
      expect(enforced).toMatchObject({
        file_names: [],
        process_list: [],
        file_metadata: ['seccomp-listener'],
        network: expect.arrayContaining(['seccomp']) as string[],
      })
    })

    test('the namespaces form is refused on request, with the reason and a fix', () => {
      expect(expectNotRun(found(), 'namespaces', 'host-cannot-hold').message).toContain('user-namespace')
      expect(expectNotRun(found(), 'required', 'host-cannot-hold').fix).toContain('cordon doctor')
    })

    test('a warm cell serves a call', () => {
      expect(found().calls['warm']).toMatchObject({ status: 'exited', exitCode: 0, stdout: 'warm\n' })
    })

    test('a tool can connect to itself over Unix sockets although they cannot be borrowed', () => {
      expect(ran(found(), 'own')).toMatchObject({ exitCode: 0, stdout: 'own\nown\n', stderr: '' })
    })

    test('a tool without a grant reaches nothing and cannot listen, and its attempts are reported', () => {
      expect(ran(found(), 'refused').exitCode).not.toBe(0)
      expect(ran(found(), 'refused').violations).toContainEqual({
        kind: 'connect',
        family: 'inet',
        address: '127.0.0.1',
        port: server.port,
      })
      expect(ran(found(), 'listen')).toMatchObject({ exitCode: 0, stdout: 'refused\nrefused\n' })
    })

    test('a tool with network all reaches the host as it would without a cell', () => {
      expect(ran(found(), 'granted')).toMatchObject({ exitCode: 0, stdout: 'word of the host\n' })
      expect(ran(found(), 'granted, without blocking').stdout).toBe(
        'True\n0\nTrue\nFalse True\nHTTP/1.1 200\nECONNREFUSED\n',
      )
      expect(server.connections() - connectionsBefore).toBeGreaterThanOrEqual(2)
    })

    test('only granted hosts are reached, by sockets that replace those that cannot be borrowed', () => {
      const { stdout, stderr, violations, profile } = ran(found(), 'hosts')
      const said = 'word of the host'
      expect({ stdout: stdout.split('\n'), stderr }).toEqual({
        stdout: [
          `blocking ${said}`,
          `not-blocking True EISCONN ${said}`,
          `mapped ${said}`,
          `variables ${said}`,
          'threads 20',
          'other-port ENETUNREACH',
          'other-name gaierror',
          'host-itself ENETUNREACH',
          'again EISCONN',
          '',
        ],
        stderr: '',
      })
      expect(violations).toContainEqual({ kind: 'lookup', name: 'other.test' })
      expect(profile).toMatchObject({ enforced: { network: expect.arrayContaining(['broker']) as unknown } })
    })

    test('processes are counted, files observed and children signalled', () => {
      expect(ran(found(), 'processes').violations).toContainEqual(expect.objectContaining({ kind: 'processes' }))
      expect(ran(found(), 'observed').violations).toContainEqual(
        expect.objectContaining({ kind: 'file', path: '/etc/shadow' }),
      )
      expect(ran(found(), 'signals').stdout).toBe('143\n')
    })
  })
}
