import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { afterAll, expect, test } from 'vitest'

import { CORDON } from '../../../../test/repository.js'
import { lastingFolder } from '../attacks/playground.js'
import { has, run } from '../egress/programs.js'
import { echo, serverAuthority, startHttps, startTcp } from '../egress/servers.js'
import { needs } from '../../../../test/requirement.js'

import { PROGRAMS, insideCell, within } from './place.js'
import type { Place } from './place.js'
import { describePlace, expectHeld, expectNotRun, ran } from './visit.js'
import type { VisitRequest } from './visit.js'

// Two hosts: `own.test` is granted to both cells, `outer.test` to the outer one alone.
const web = await startHttps(echo, { host: 'own.test' })
const repeater = await startTcp((socket) => {
  socket.pipe(socket)
})
const outerOnly = await startTcp((socket) => {
  socket.pipe(socket)
})
const folder = lastingFolder()
const authority = join(folder, 'authority.pem')
writeFileSync(authority, serverAuthority.certificate)

afterAll(() => Promise.all([web.close(), repeater.close(), outerOnly.close()]))

const own = (port: number) => `own.test:${String(port)}`
const OUTER = [own(web.port), own(repeater.port), `outer.test:${String(outerOnly.port)}`]
const outerOptions = [
  ...OUTER.flatMap((host) => ['--net', host]),
  '--resolve',
  'own.test=127.0.0.1',
  '--resolve',
  'outer.test=127.0.0.1',
  '--upstream-ca',
  authority,
]
const INNER = [own(web.port), own(repeater.port)]
const URL = `https://${own(web.port)}`

const python = (...lines: readonly string[]) => [
  '/usr/bin/python3',
  '-B',
  '-c',
  ['import errno, socket, threading, urllib.request', ...lines].join('\n'),
]
const hosts = (argv: readonly string[], network: readonly unknown[] = INNER) => ({
  argv,
  policy: { network, filesystem: { read: [PROGRAMS] } },
})

const CALLS: NonNullable<VisitRequest['calls']> = {
  'curl': hosts(['/usr/bin/curl', '-sS', '--noproxy', '*', `${URL}/curl`]),
  'curl by the variables': hosts(['/usr/bin/curl', '-sS', `${URL}/by-proxy`]),
  'node': hosts([process.execPath, '-e', `fetch("${URL}/node").then((r) => r.text()).then(console.log)`]),
  'python': hosts(
    python(`print(urllib.request.build_opener(urllib.request.ProxyHandler({})).open("${URL}/python").read().decode())`),
  ),
  'streams': hosts(
    python(
      'results = []',
      `def one(i):\n  s = socket.create_connection(("own.test", ${String(repeater.port)})); ` +
        `s.sendall(b"%d\\n" % i); results.append(s.recv(99) == b"%d\\n" % i)`,
      'threads = [threading.Thread(target=one, args=(i,)) for i in range(40)]; [t.start() for t in threads]; ' +
        '[t.join() for t in threads]; print(results.count(True))',
    ),
  ),
  'attack': hosts(
    ['/usr/bin/python3', '-B', join(PROGRAMS, 'leave-nested-cell.py'), String(outerOnly.port), String(repeater.port)],
    [own(repeater.port)],
  ),
  'another name': hosts(['/usr/bin/curl', '-sS', '--noproxy', '*', `http://outer.test:${String(outerOnly.port)}/`]),
  'by way of the proxy': hosts([
    '/usr/bin/curl',
    '-sS',
    '-o',
    '/dev/null',
    '-w',
    '%{http_code}',
    `http://outer.test:${String(outerOnly.port)}/`,
  ]),
  'a path that is not granted': hosts(
    ['/usr/bin/curl', '-sS', '-o', '/dev/null', '-w', '%{http_code}', `${URL}/private`],
    [own(web.port), { host: own(web.port), paths: ['/private'], action: 'deny' }],
  ),
  'more than the outer': hosts(
    [
      '/usr/bin/curl',
      '-sS',
      '-o',
      '/dev/null',
      '-w',
      '%{http_code}',
      '--noproxy',
      '*',
      `http://nobody.test:${String(outerOnly.port)}/`,
    ],
    [...INNER, `nobody.test:${String(outerOnly.port)}`],
  ),
  'no hosts at all': {
    argv: python(
      `try: socket.create_connection(("127.0.0.1", ${String(repeater.port)}))\nexcept OSError as e: ` +
        'print(errno.errorcode[e.errno])',
    ),
  },
  'all of the network': { argv: ['/bin/true'], policy: { network: 'all' } },
  'a denied address': hosts(['/bin/true'], [...INNER, { host: '192.0.2.0/24', action: 'deny' }]),
}

const request: VisitRequest = { calls: CALLS, names: 'looked-up' }

for (const form of ['namespaces', 'landlock'] as const) {
  describePlace(
    insideCell(form, outerOptions),
    () => request,
    (found) => {
      test('an inner cell reaches its hosts with programs that know no proxy, and with one that does', () => {
        for (const [name, path] of [
          ['curl', '/curl'],
          ['curl by the variables', '/by-proxy'],
          ['node', '/node'],
          ['python', '/python'],
        ] as const) {
          const { exitCode, stdout, stderr, violations } = ran(found(), name)
          expect({ name, exitCode, stderr, violations, path: stdout.includes(`"url":"${path}"`) }).toEqual({
            name,
            exitCode: 0,
            stderr: '',
            violations: [],
            path: true,
          })
        }
        const { stdout: streams, stderr: failures } = ran(found(), 'streams')
        expect({ streams, failures }).toEqual({ streams: '40\n', failures: '' })
        expect(ran(found(), 'curl').profile).toMatchObject({
          form: 'landlock',
          network: INNER,
          enforced: { network: expect.arrayContaining(['broker', 'outer-cell']) as unknown },
        })
      })

      test(
        'it cannot reach what only the outer cell grants: not by address, by name, without its mark, nor by ' +
          'asking for more',
        () => {
          expectHeld(found(), 'attack')
          expect(ran(found(), 'attack').stdout).toContain('still there\n')
          expect(ran(found(), 'another name')).toMatchObject({
            exitCode: 6,
            violations: [{ kind: 'lookup', name: 'outer.test' }],
          })
          expect(ran(found(), 'by way of the proxy').stdout).toBe('403')
          expect(outerOnly.connections()).toBe(0)
        },
      )

      test('a denial of the inner policy applies to a granted host', () => {
        expect(ran(found(), 'a path that is not granted').stdout).toBe('403')
      })

      test('a grant inside cannot add to the grants of the outer cell', () => {
        expect(ran(found(), 'more than the outer').stdout).toBe('502')
      })

      test('an inner cell without hosts reaches nothing', () => {
        expect(ran(found(), 'no hosts at all').stdout).toMatch(/^E(?:ACCES|NETUNREACH)\n$/)
      })

      test('what cannot be enforced inside is refused, with the reason', () => {
        expectNotRun(found(), 'all of the network', 'network-grant-unsupported')
        expect(expectNotRun(found(), 'a denied address', 'network-grant-unsupported').fix).toContain('outer cell')
      })
    },
  )
}

const enter = ({ enter: into }: Place, argv: readonly string[]) => {
  const [program = '', ...args] = into(argv)
  return run(program, args)
}
const innerCordon = (...words: readonly string[]) => [process.execPath, CORDON, 'run', ...words]

test('a cell in a cell in a cell reaches only what all three grant', async (context) => {
  needs(context, has('curl'), 'curl is not installed')
  const inner = insideCell(
    'landlock',
    OUTER.flatMap((host) => ['--net', host]),
  )
  const script =
    `curl -sS --noproxy '*' -o /dev/null -w '%{http_code} ' ${URL}/three; curl -sS --noproxy '*' ` +
    `http://outer.test:${String(outerOnly.port)}/`
  const { output, errors } = await enter(
    within(insideCell('namespaces', outerOptions), inner),
    innerCordon('--net', own(web.port), '--', '/bin/sh', '-c', script),
  )
  expect({ output, refused: errors.includes('refused to look up outer.test') }).toEqual({
    output: '200 ',
    refused: true,
  })
  expect(outerOnly.connections()).toBe(0)
})

test('hosts inside a cell without a network are refused, and the error says where to grant them', async () => {
  const { status, errors } = await enter(
    insideCell('namespaces', []),
    innerCordon('--net', 'own.test', '--', '/bin/true'),
  )
  expect(status).toBe(125)
  expect(errors).toContain('network-grant-unsupported')
  expect(errors).toContain('grant the hosts to that one, too')
})
