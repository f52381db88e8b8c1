import { createServer, connect } from 'node:net'
import { join } from 'node:path'
import { readdirSync } from 'node:fs'

import { expect, test } from 'vitest'

import { exitCodeOf } from '../../../../test/ending.js'

import { expectHeld, inMainCells, mustRun } from './harness.js'
import { NO_ARRIVALS, startListeners } from './host-services.js'
import { playground } from './playground.js'
import { describeAllCells } from './walled.js'

describeAllCells('the network without a grant', (cell) => {
  test("cannot reach a service on the host's loopback, or get a socket of another family", async () => {
    const { outside } = playground()
    const host = await startListeners(outside)
    const call = await cell.attack('sockets', [String(host.tcp), String(host.udp)])
    expect(await host.arrivals()).toEqual(NO_ARRIVALS)
    expectHeld(call, cell.form !== 'landlock' ? IN_OWN_NAMESPACE : {})
  })

  test.each(['network.py', 'network.mjs'])(
    'cannot reach it as a program in another language would (%s)',
    async (program) => {
      const { outside } = playground()
      const host = await startListeners(outside)
      const call = await cell.attack(program, [String(host.tcp), String(host.udp)])
      expect(await host.arrivals()).toEqual(NO_ARRIVALS)
      expectHeld(
        call,
        cell.form !== 'landlock' ? { udp: 'a datagram to nobody, in a namespace of its own', udp6: 'the same' } : {},
      )
    },
  )

  test('can reach it with network all', async () => {
    const { outside } = playground()
    const host = await startListeners(outside)
    const call = mustRun(
      await cell.attack('network.py', [String(host.tcp), String(host.udp)], { policy: { network: 'all' } }),
    )
    expect(call.routes.find(({ route }) => route === 'create-connection')).toMatchObject({ outcome: 'escaped' })
    expect((await host.arrivals())['tcp']).toBeGreaterThan(0)
  })

  test('still cannot get raw, packet and exotic sockets with network all', async () => {
    const { outside } = playground()
    const host = await startListeners(outside)
    const { routes } = mustRun(
      await cell.attack('sockets', [String(host.tcp), String(host.udp)], { policy: { network: 'all' } }),
    )
    const open = routes.filter(({ outcome }) => outcome === 'escaped').map(({ route }) => route)
    expect(open.filter((route) => !/^(tcp|udp|fastopen|interfaces|proc-)/.test(route))).toEqual([])
  })

  test('cannot be reached on a port that it listens on', async () => {
    const script = `
import select, socket
listening = []
for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1"), (socket.AF_INET, "0.0.0.0")):
    try:
        s = socket.socket(family); s.bind((address, 0)); s.listen(1); listening.append(s)
        print("port", s.getsockname()[1], flush=True)
    except OSError as e: print("refused", e, flush=True)
if listening and select.select(listening, [], [], 2)[0]: print("REACHED")
`
    const call = await cell.run(['/usr/bin/python3', '-c', script], {
      onStdout: (text) => {
        for (const [, port] of text.matchAll(/port (\d+)/g))
          for (const host of ['127.0.0.1', '::1']) connect(Number(port), host).on('error', () => undefined)
      },
    })
    expect(exitCodeOf(call.result)).toBe(0)
    expect(call.stdout).not.toContain('REACHED')
  })

  test('can talk to itself over a socket pair', async () => {
    const script = 'import socket; a, b = socket.socketpair(); a.send(b"own"); print(b.recv(9).decode())'
    expect((await cell.run(['/usr/bin/python3', '-c', script])).stdout).toBe('own\n')
  })

  test('reports a refused connection as a violation', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as { port: number }
    const call = await cell.run([
      '/usr/bin/python3',
      '-c',
      `import socket; socket.create_connection(("127.0.0.1", ${port}))`,
    ])
    server.close()
    expect(exitCodeOf(call.result)).not.toBe(0)
    if (cell.form === 'landlock')
      expect(call.result.violations).toContainEqual(
        expect.objectContaining({ kind: 'connect', family: 'inet', address: '127.0.0.1', port }),
      )
  })
})

// An empty network namespace has these too, and nobody to talk to.
const IN_OWN_NAMESPACE = {
  'udp': 'a datagram to nobody',
  'udp-sendmmsg': 'the same',
  'udp6': 'the same',
  'udp-connect': 'the same',
}

describeAllCells('Unix sockets of the host', (cell) => {
  const places = {
    'an ungranted folder': 'none',
    'a folder granted for reading': 'read',
    'a folder granted for writing': 'write',
  } as const

  test.each(Object.keys(places) as (keyof typeof places)[])('cannot be reached in %s', async (place) => {
    const { inside, outside } = playground()
    const host = await startListeners(outside)
    const filesystem = {
      none: { write: [inside] },
      read: { read: [outside], write: [inside] },
      write: { write: [inside, outside] },
    }[places[place]]
    const call = await cell.attack(
      'unix-sockets',
      [
        join(outside, 'stream'),
        join(outside, 'datagram'),
        `${host.abstract}-stream`,
        `${host.abstract}-datagram`,
        inside,
      ],
      { policy: { filesystem } },
    )
    expect(await host.arrivals()).toEqual(NO_ARRIVALS)
    expectHeld(call)
    expect(readdirSync(outside).sort()).toEqual(['datagram', 'stream'])
  })

  test('cannot be reached by changing the address during the call', inMainCells(cell), async () => {
    const { folder } = playground()
    const [own, theirs] = [folder('a'), folder('b')]
    const host = await startListeners(theirs)
    const call = await cell.attack('pointer-race', ['socket', join(own, 'stream'), join(theirs, 'stream'), '3000'], {
      policy: { filesystem: { read: [theirs], write: [own] } },
    })
    expect(await host.arrivals()).toEqual(NO_ARRIVALS)
    expectHeld(call)
  })

  test('cannot be reached if the service starts during the call', async () => {
    const { inside } = playground()
    const script =
      'import os, socket, sys, time\nprint("up", flush=True)\nwhile not os.path.exists(sys.argv[1]): ' +
      'time.sleep(0.01)\ntime.sleep(0.05); s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); ' +
      'print(s.recv(99).decode())'
    let host: ReturnType<typeof startListeners> | undefined
    const call = await cell.run(['/usr/bin/python3', '-c', script, join(inside, 'stream')], {
      policy: { filesystem: { write: [inside] }, limits: { wall: '20s' } },
      onStdout: () => {
        host ??= startListeners(inside)
      },
    })
    expect(call.stdout).not.toContain('SECRET')
    expect(await (await host)?.arrivals()).toEqual(NO_ARRIVALS)
  })

  test('but a tool can reach its own process over a socket in its write root', async () => {
    const { inside } = playground()
    const script = `
import os, socket
s = socket.socket(socket.AF_UNIX); s.bind("${inside}/own"); s.listen(1)
if os.fork() == 0:
    c = socket.socket(socket.AF_UNIX); c.connect("${inside}/own"); c.send(b"own"); os._exit(0)
print(s.accept()[0].recv(9).decode())
`
    expect(
      (await cell.run(['/usr/bin/python3', '-c', script], { policy: { filesystem: { write: [inside] } } })).stdout,
    ).toBe('own\n')
  })
})
