import { expect, test } from 'vitest'

import { lastingFolder } from '../attacks/playground.js'

import { startHostServer } from './host-server.js'
import { imitated } from './place.js'
import { LISTEN, TALK_OVER_LOOPBACK, TALK_TO_ITSELF, fetchFromHost, fetchWithoutBlocking } from './scripts.js'
import { describePlace, expectNotRun, ran } from './visit.js'
import type { VisitRequest } from './visit.js'

const server = await startHostServer()
const inside = lastingFolder()

const REQUEST: VisitRequest = {
  calls: {
    'plain': { argv: ['/bin/echo', 'well'] },
    'itself': { argv: TALK_OVER_LOOPBACK },
    'unix': { argv: TALK_TO_ITSELF },
    'pair': {
      argv: [
        '/usr/bin/python3',
        '-c',
        'import socket; a, b = socket.socketpair(); a.send(b"own"); print(b.recv(9).decode())',
      ],
    },
    'listen': { argv: LISTEN },
    'refused': { argv: fetchFromHost(server.port) },
    'granted': { argv: fetchFromHost(server.port), policy: { network: 'all' } },
    'granted, without blocking': { argv: fetchWithoutBlocking(server.port), policy: { network: 'all' } },
    'granted, but Unix': { argv: TALK_TO_ITSELF, policy: { network: 'all' } },
    'processes': { argv: ['/bin/true'], policy: { limits: { processes: 4 } } },
    'observed': { argv: ['/bin/true'], observe: 'everything' },
    'exec': { argv: ['/bin/sh', '-c', '/usr/bin/id; exit 3'], policy: { exec: 'none' } },
    'mode': {
      argv: ['/bin/sh', '-c', 'echo a > mode && chmod 600 mode && stat -c %a mode'],
      cwd: inside,
      policy: { filesystem: { write: [inside] } },
    },
    'required': { argv: ['/bin/true'], policy: { require: ['seccomp-listener'] } },
    'hosts': { argv: ['/bin/true'], policy: { network: ['host.test'] } },
  },
}

const claimsOfBoth = (found: Parameters<Parameters<typeof describePlace>[2]>[0]): void => {
  test('what needs the listener is refused, with that reason', () => {
    expect(found().host.listener).toEqual({
      held: false,
      stage: 'seccomp-listener',
      problem: expect.stringContaining('busy') as string,
    })
    expectNotRun(found(), 'processes', 'limit-unsupported')
    expectNotRun(found(), 'observed', 'host-cannot-hold')
    expectNotRun(found(), 'required', 'host-cannot-hold')
    expect(expectNotRun(found(), 'hosts', 'network-grant-unsupported').message).toContain('seccomp listener')
  })

  test('the profile claims no listener', () => {
    expect(Object.values(ran(found(), 'plain').profile.enforced).flat()).not.toContain('seccomp-listener')
  })

  test('Unix sockets, which nobody can judge, are refused, but socket pairs work', () => {
    expect(ran(found(), 'unix').exitCode).not.toBe(0)
    expect(ran(found(), 'pair').stdout).toBe('own\n')
    expect(ran(found(), 'plain').profile.enforced['unix_sockets']).toEqual(['seccomp'])
  })

  test('a tool without a grant reaches nothing', () => {
    expect(ran(found(), 'refused')).toMatchObject({ exitCode: 1, stdout: '' })
  })
}

describePlace(
  imitated('namespaces but no listener', ['no-listener']),
  () => REQUEST,
  (found) => {
    claimsOfBoth(found)

    test('a cell has its namespaces and its own loopback', () => {
      expect(ran(found(), 'plain').profile.form).toBe('namespaces')
      expect(ran(found(), 'itself')).toMatchObject({ exitCode: 0, stdout: 'own\n' })
    })

    test('a tool with network all reaches the host, but no Unix sockets there', () => {
      expect(ran(found(), 'granted')).toMatchObject({ exitCode: 0, stdout: 'word of the host\n' })
      expect(ran(found(), 'granted, without blocking').stdout).toBe(
        'True\n0\nTrue\nFalse True\nHTTP/1.1 200\nECONNREFUSED\n',
      )
      expect(ran(found(), 'granted, but Unix').exitCode).not.toBe(0)
    })

    test('mounts enforce a limit on programs, and metadata can be changed in write roots', () => {
      expect(ran(found(), 'exec')).toMatchObject({ exitCode: 3, stdout: '' })
      expect(ran(found(), 'mode').stdout).toBe('600\n')
    })
  },
)

describePlace(
  imitated('neither namespaces nor a listener', ['no-listener', 'no-user-namespaces']),
  () => REQUEST,
  (found) => {
    claimsOfBoth(found)

    test('network grants are refused', () => {
      expect(ran(found(), 'plain').profile.form).toBe('landlock')
      for (const name of ['granted', 'granted, without blocking', 'granted, but Unix'])
        expectNotRun(found(), name, 'network-grant-unsupported')
    })

    test('a tool cannot listen, not even for itself', () => {
      expect(ran(found(), 'listen').stdout).toBe('refused\nrefused\n')
      expect(ran(found(), 'itself').exitCode).not.toBe(0)
    })

    test('a limit on programs is refused, because the loader would bypass it', () => {
      expect(expectNotRun(found(), 'exec', 'host-cannot-hold').message).toContain('loader')
    })

    test('metadata cannot be changed, and the profile names the mechanism', () => {
      const { stdout, profile } = ran(found(), 'mode')
      expect({ stdout, held: profile.enforced['file_metadata'] }).toEqual({ stdout: '', held: ['seccomp'] })
    })
  },
)
