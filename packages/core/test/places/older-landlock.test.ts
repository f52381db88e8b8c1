import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { startVictim } from '../attacks/host-services.js'
import { lastingFolder, snapshot } from '../attacks/playground.js'
import { preparePrograms } from '../attacks/programs.js'

import { furnish } from './furnish.js'
import { startHostServer } from './host-server.js'
import { imitated, olderKernel, within } from './place.js'
import { LISTEN, TALK_TO_ITSELF, fetchFromHost, reachGranted } from './scripts.js'
import { describePlace, expectHeld, expectNotRun, ran } from './visit.js'
import type { VisitRequest } from './visit.js'

const programs = preparePrograms()
const server = await startHostServer()
const attack = (name: string, ...args: readonly string[]): readonly string[] => [...programs.command(name), ...args]

const EXISTENCE = {
  'getsid': 'tells that a process exists',
  'f-setown': 'may be asked for; the signal itself is dropped, as the victim shows',
}

// The versions of Ubuntu 22.04 and Debian 12, and those before and after Landlock learns to hold something more.
for (const abi of [1, 2, 3, 5, 6]) {
  const room = furnish(lastingFolder(), (folder) =>
    execFileSync(programs.command('write-outside')[0], ['--seed', folder]),
  )
  const policy = { filesystem: { read: [programs.folder, room.outerWritten], write: [room.written] } }
  let victims: unknown

  const request = async (): Promise<VisitRequest> => {
    const victim = await startVictim(room.secret)
    const calls: NonNullable<VisitRequest['calls']> = {
      'strongest': { argv: ['/bin/true'] },
      'plain': { argv: ['/bin/echo', 'well'] },
      'write outside': { argv: attack('write-outside', room.outerWritten, room.written), policy, cwd: room.written },
      'read outside': { argv: attack('read-path', room.secret, room.written), policy, cwd: room.written },
      'change outside': {
        argv: attack('metadata', join(room.outerWritten, 'file'), room.written),
        policy,
        cwd: room.written,
      },
      'other processes': {
        argv: attack('other-processes', String(victim.pid), victim.address, String(victim.fd)),
        policy,
      },
      'its supervisor': { argv: attack('supervisor', 'parent'), policy: { ...policy, limits: { wall: '60s' } } },
      'shorten a file': {
        argv: [
          '/usr/bin/python3',
          '-c',
          'import os; open("f", "w").write("long"); os.truncate("f", 2); print(open("f").read())',
        ],
        policy,
        cwd: room.written,
      },
      'move a file': {
        argv: ['/bin/sh', '-c', 'mkdir -p d && echo moved > g && mv g d/g && cat d/g'],
        policy,
        cwd: room.written,
      },
      'signal children': { argv: ['/bin/sh', '-c', 'sleep 30 & kill $!; wait $!; echo $?; kill -TERM 0; sleep 9'] },
      'signal itself': { argv: ['/usr/bin/python3', '-c', 'import os, signal; signal.raise_signal(signal.SIGUSR1)'] },
      'listen': { argv: LISTEN },
      'talk to itself': { argv: TALK_TO_ITSELF },
      'connect': { argv: fetchFromHost(server.port) },
      'hosts': { argv: reachGranted(server.port), policy: { network: [`host.test:${String(server.port)}`] } },
      'exec': { argv: ['/bin/sh', '-c', '/usr/bin/id; exit 3'], policy: { exec: 'none' } },
    }
    return {
      calls: Object.fromEntries(
        Object.entries(calls).map(([name, call]) => [
          name,
          name === 'strongest' ? call : { ...call, form: 'landlock' as const },
        ]),
      ),
      whileThere: async () => {
        victims = await victim.state()
      },
    }
  }

  describePlace(olderKernel(`a kernel with Landlock ABI ${String(abi)}`, [`landlock=${abi}`]), request, (found) => {
    test('hosts can be granted if Landlock sees connections, and are refused with the reason if not', () => {
      if (abi < 4) expect(expectNotRun(found(), 'hosts', 'network-grant-unsupported').message).toContain('ABI 4')
      else
        expect(ran(found(), 'hosts').stdout.split('\n').slice(4, 8)).toEqual([
          'threads 20',
          'other-port ENETUNREACH',
          'other-name gaierror',
          'host-itself ENETUNREACH',
        ])
    })

    test('namespaces are still chosen, and the profile names Landlock with its version', () => {
      const { form, enforced } = ran(found(), 'strongest').profile
      expect({ form, fact: found().host.landlock }).toEqual({ form: 'namespaces', fact: { held: true, abi } })
      expect(
        new Set(
          Object.values(enforced)
            .flat()
            .filter((name) => name.startsWith('landlock')),
        ),
      ).toEqual(new Set([`landlock:${String(abi)}`]))
    })

    test('the profile of the landlock form claims exactly what this version enforces', () => {
      const { enforced } = ran(found(), 'plain').profile
      const landlock = `landlock:${String(abi)}`
      const holds = (boundary: string) => enforced[boundary]?.includes(landlock) ?? false
      expect({
        read: holds('filesystem_read'),
        network: holds('network'),
        processes: holds('processes'),
        end: holds('end_of_call'),
      }).toEqual({ read: true, network: abi >= 4, processes: abi >= 6, end: abi >= 6 })
      expect(enforced['filesystem_write']).toEqual(abi >= 3 ? [landlock] : [landlock, 'seccomp'])
    })

    test('files without a grant can be neither read nor changed nor emptied', () => {
      expectHeld(found(), 'read outside', { watch: 'tells when somebody uses the file, not what is in it' })
      expectHeld(found(), 'write outside')
      expectHeld(found(), 'change outside')
      expect(snapshot(room.outerWritten)).toEqual(room.before)
    })

    test('other processes can be neither signalled nor read, directly or by the kernel', () => {
      expectHeld(found(), 'other processes', EXISTENCE)
      expect(victims).toEqual({ signals: 0, memory: 'SECRET in memory' })
      expectHeld(found(), 'its supervisor')
    })

    test('nothing can be reached, and no port of the host can be taken', () => {
      expect(ran(found(), 'listen').stdout).toBe('refused\nrefused\n')
      expect(ran(found(), 'connect')).toMatchObject({ exitCode: 1, stdout: '' })
      expect(ran(found(), 'connect').violations).toContainEqual(
        expect.objectContaining({ kind: 'connect', port: server.port }),
      )
    })

    test('a tool can use its own files, processes and sockets', () => {
      expect(ran(found(), 'shorten a file')).toMatchObject({ stdout: 'lo\n', stderr: '' })
      expect(ran(found(), 'move a file')).toMatchObject({ stdout: 'moved\n' })
      expect(ran(found(), 'signal children')).toMatchObject({ status: 'signaled', signal: 15, stdout: '143\n' })
      expect(ran(found(), 'signal itself')).toMatchObject({ status: 'signaled', signal: 10 })
      expect(ran(found(), 'talk to itself').stdout).toBe('own\nown\n')
    })

    test('a limit on programs works', () => {
      expect(ran(found(), 'exec')).toMatchObject({ exitCode: 3, stdout: '' })
    })
  })
}

const oldAndBare = within(
  olderKernel('a kernel with Landlock ABI 1', ['landlock=1']),
  imitated('neither namespaces nor a listener', ['no-listener', 'no-user-namespaces']),
)

describePlace(
  oldAndBare,
  () => ({
    calls: {
      plain: { argv: LISTEN },
      signal: { argv: ['/bin/sh', '-c', 'sleep 1 & kill $! || echo refused'] },
      network: { argv: ['/bin/true'], policy: { network: 'all' } },
    },
  }),
  (found) => {
    test('what nothing can enforce is refused: ports, signals, network grants', () => {
      expect(ran(found(), 'plain').stdout).toBe('')
      expect(ran(found(), 'signal').stdout).toBe('refused\n')
      expectNotRun(found(), 'network', 'network-grant-unsupported')
    })
  },
)
