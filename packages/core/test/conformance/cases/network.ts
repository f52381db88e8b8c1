import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'

import { expect } from 'vitest'

import { area } from '../claim.js'
import type { Area } from '../claim.js'
import type { CallResult } from '../../../src/sandbox/index.js'
import { textOf } from '../stage.js'
import type { Stage } from '../stage.js'
import { exitCodeOf } from '../../../../../test/ending.js'

/** A listener on the loopback of the host, or at a path; tells how many connections it got. */
const withListener = async (
  at: string | { readonly host: string },
  use: (port: number, connections: () => number) => Promise<void>,
): Promise<void> => {
  let connections = 0
  const server = createServer((socket) => {
    connections += 1
    socket.on('error', () => undefined)
    socket.end('hello\n')
  })
  await new Promise<void>((resolve) =>
    typeof at === 'string' ? server.listen(at, resolve) : server.listen(0, at.host, resolve),
  )
  try {
    await use(typeof at === 'string' ? 0 : (server.address() as AddressInfo).port, () => connections)
  } finally {
    await new Promise((resolve) => server.close(resolve))
  }
}

const dial = (host: string, port: number): readonly string[] => [
  '/bin/bash',
  '-c',
  `cat < /dev/tcp/${host}/${String(port)}`,
]

const python = (text: string): readonly string[] => ['/usr/bin/python3', '-c', text]

const OVER_LOOPBACK = `import socket, threading
server = socket.create_server(("127.0.0.1", 0))
threading.Thread(target=lambda: server.accept()[0].sendall(b"own"), daemon=True).start()
print(socket.create_connection(server.getsockname(), 5).recv(9).decode())`

const OVER_UNIX = `import os, socket, threading
path = os.environ["TMPDIR"] + "/s"
server = socket.socket(socket.AF_UNIX); server.bind(path); server.listen()
threading.Thread(target=lambda: server.accept()[0].sendall(b"own"), daemon=True).start()
client = socket.socket(socket.AF_UNIX); client.connect(path); print(client.recv(9).decode())`

interface Served {
  readonly result: CallResult
  /** What was connected to, as the keeper told it. */
  readonly asked: readonly string[]
}

/** A call that may reach these, and whose connections are all answered with a word. */
const served = async ({ run }: Stage, network: readonly string[], command: readonly string[]): Promise<Served> => {
  const asked: string[] = []
  const result = await run(command, {
    policy: { network },
    proxy: { authority: '' },
    network: {
      connected: (stream, host, port) => {
        asked.push(`${host}:${String(port)}`)
        stream.end('hello\n')
      },
      proxied: (stream) => {
        asked.push('proxy')
        stream.end('proxy\n')
      },
      proxySecret: 'secret',
      variables: {},
    },
  })
  return { result, asked }
}

const CONNECT = `import os, socket, sys, urllib.parse
def hear(at):
  try: return socket.create_connection(at, 5).makefile().readline().strip()
  except OSError as error: return type(error).__name__
proxy = urllib.parse.urlparse(os.environ["HTTP_PROXY"])
print([hear(at) for at in [("granted.test", 80), ("a.below.test", 81), ("192.0.2.9", 82), ("2001:db8::9", 83), (proxy.hostname, proxy.port)]])
print([hear(at) for at in [("granted.test", 81), ("other.test", 80), ("below.test", 81), ("192.0.2.10", 82), ("2001:db8::a", 83)]])`

const BY_DATAGRAM = `import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(5)
s.sendto(b"ab\\1\\0\\0\\1\\0\\0\\0\\0\\0\\0\\7granted\\4test\\0\\0\\1\\0\\1", ("127.0.0.1", 53))
print(socket.inet_ntoa(s.recv(512)[-4:]))`

export const network: Area = area('Network', [
  ...['127.0.0.1', '::1'].map((host) => ({
    claim: `without a grant no service of the host is reached (${host})`,
    tell: async ({ run }: Stage) => {
      await withListener({ host }, async (port, connections) => {
        const result = await run(dial(host, port))
        expect(result).toMatchObject({ exitCode: 1, profile: { network: 'none' } })
        expect(connections()).toBe(0)
      })
    },
  })),
  {
    claim: 'without a grant a remote address is refused, and the attempt is reported',
    run: ['/bin/bash', '-c', 'exec 2> /dev/null; cat < /dev/tcp/192.0.2.1/80'],
    then: { exitCode: 1, violations: [{ kind: 'connect', family: 'inet', address: '192.0.2.1', port: 80 }] },
  },
  {
    claim: 'with network: all a service is reached',
    tell: async ({ run }) => {
      await withListener({ host: '127.0.0.1' }, async (port, connections) => {
        const result = await run(dial('127.0.0.1', port), { policy: { network: 'all' } })
        expect({ stdout: textOf(result.stdout), network: result.profile.network, connections: connections() }).toEqual({
          stdout: 'hello\n',
          network: 'all',
          connections: 1,
        })
      })
    },
  },
  {
    claim: 'with network: all a program can connect to its own service',
    run: python(OVER_LOOPBACK),
    policy: { network: 'all' },
    then: { stdout: 'own\n' },
  },
  {
    claim: 'a program can connect to itself over the loopback without a grant',
    run: python(OVER_LOOPBACK),
    then: { stdout: 'own\n' },
  },
  {
    claim: 'a program can connect to itself over a Unix socket without a grant',
    run: python(OVER_UNIX),
    then: { stdout: 'own\n' },
  },
  ...(['none', 'all'] as const).map((granted) => ({
    claim: `a Unix socket of the host in a granted folder is not reached (network: ${granted})`,
    tell: async ({ run, root }: Stage) => {
      const path = join(root, 's')
      await withListener(path, async (_port, connections) => {
        const result = await run(python(`import socket\nsocket.socket(socket.AF_UNIX).connect("${path}")`), {
          policy: { filesystem: { write: ['@/.'] }, network: granted },
        })
        expect(exitCodeOf(result)).toBe(1)
        expect(result.violations).toMatchObject([{ kind: 'connect', family: 'unix', path }])
        expect(connections()).toBe(0)
      })
    },
  })),
  {
    claim:
      'a tool reaches granted hosts by name, subdomain, address and proxy, and no other host. ' +
      'The proxy gets the name of the host.',
    tell: async (stage) => {
      const { result, asked } = await served(
        stage,
        ['granted.test:80', '*.below.test:81', '192.0.2.9:82', '[2001:db8::9]:83'],
        python(CONNECT),
      )
      expect(textOf(result.stdout)).toBe(
        "['hello', 'hello', 'hello', 'hello', 'proxy']\n['OSError', 'gaierror', 'gaierror', 'OSError', 'OSError']\n",
      )
      expect(asked).toEqual(['granted.test:80', 'a.below.test:81', '192.0.2.9:82', '2001:db8::9:83', 'proxy'])
      expect(result.violations).toEqual([
        { kind: 'connect', family: 'host', name: 'granted.test', port: 81 },
        { kind: 'lookup', name: 'other.test' },
        { kind: 'lookup', name: 'below.test' },
        { kind: 'connect', family: 'inet', address: '192.0.2.10', port: 82 },
        { kind: 'connect', family: 'inet6', address: '2001:db8::a', port: 83 },
      ])
    },
  },
  {
    claim: 'a program that resolves a granted name by a datagram finds it',
    tell: async (stage) => {
      const { stdout, stderr } = (await served(stage, ['granted.test:80'], python(BY_DATAGRAM))).result
      expect(textOf(stdout), textOf(stderr)).toMatch(/^22\.1[89]\./)
    },
  },
  {
    claim: 'a grant by host is refused without a proxy',
    policy: { network: ['example.com'] },
    run: ['/bin/true'],
    then: { refused: 'network-grant-unsupported' },
  },
])
