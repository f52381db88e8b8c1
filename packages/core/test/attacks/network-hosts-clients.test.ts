// Common programs in cells with granted hosts: they need no settings, and get what they would get without a cell.
import { copyFileSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { spawnSync } from 'node:child_process'

import { afterAll, expect, test } from 'vitest'

import { exitCodeOf } from '../../../../test/ending.js'
import { needs } from '../../../../test/requirement.js'
import { echo, serverAuthority, startHttp, startHttps, startTcp } from '../egress/servers.js'
import { has } from '../egress/programs.js'
import { IN_MATRIX } from '../../../../test/turns.js'

import { serveRepository, startLively, startPostgres } from './client-servers.js'
import { GRANTED, REPEATER_GRANT, WEB_GRANT, python, repeater, runGranted } from './granted-hosts.js'
import type { GrantedOptions } from './granted-hosts.js'
import { describeForms, programs } from './harness.js'
import { playground } from './playground.js'

const plain = await startHttp(echo)
const lively = await startLively()
const postgres = await startPostgres()
/** In which the server speaks first, and says back what it hears. */
const greeter = await startTcp((socket) => {
  socket.write('SSH-2.0-Greeter\r\n')
  socket.pipe(socket)
})
afterAll(() => Promise.all([plain, lively, postgres, greeter].map((server) => server.close())))

const at = (port: number): string => `${GRANTED}:${String(port)}`
const node = (script: string): readonly string[] => [process.execPath, '-e', script]

describeForms('granted hosts with unmodified programs:', (cell) => {
  const run = (argv: readonly string[], network: readonly string[], options: GrantedOptions = {}) =>
    runGranted(cell, network, argv, options)

  test('curl speaks HTTP/2 and HTTP/1.1', async () => {
    const asked = (...args: readonly string[]) =>
      run(
        [
          'curl',
          '-sS',
          '--noproxy',
          '*',
          '-o',
          '/dev/null',
          '-w',
          '%{http_version} %{http_code}',
          ...args,
          `https://${WEB_GRANT}/`,
        ],
        [WEB_GRANT],
      )
    expect((await asked('--http2')).stdout).toBe('2 200')
    expect((await asked('--http1.1')).stdout).toBe('1.1 200')
    expect(
      (await run(['curl', '-sS', '--noproxy', '*', `http://${at(plain.port)}/plain`], [at(plain.port)])).stdout,
    ).toContain('/plain')
  })

  test('git clones over https', async (context) => {
    needs(context, has('git'), 'git is not installed')
    const { folder } = playground()
    const server = await startHttps(serveRepository(folder('served')))
    try {
      const { stdout, stderr } = await run(
        [
          '/bin/sh',
          '-c',
          `cd "$TMPDIR" && git clone -q https://${at(server.port)}/repository.git cloned && cat cloned/file`,
        ],
        [at(server.port)],
      )
      expect({ stdout, stderr }).toEqual({ stdout: 'cloned\n', stderr: '' })
    } finally {
      await server.close()
    }
  })

  test('psql queries a server that is granted by its port', async (context) => {
    needs(context, has('psql'), 'psql is not installed')
    const { stdout, stderr } = await run(
      ['psql', '-X', '-At', `host=${GRANTED} port=${String(postgres.port)} user=test dbname=test`, '-c', 'select 1'],
      [at(postgres.port)],
    )
    expect({ stdout, stderr }).toEqual({ stdout: 'select 1\n', stderr: '' })
  })

  test("ssh reads the server's greeting first", async (context) => {
    needs(context, spawnSync('ssh', ['-V']).error === undefined, 'ssh is not installed')
    const { stderr } = await run(
      [
        'ssh',
        '-v',
        '-F',
        'none',
        '-o',
        'BatchMode=yes',
        '-o',
        'ConnectTimeout=10',
        '-p',
        String(greeter.port),
        GRANTED,
      ],
      [at(greeter.port)],
      { limits: { wall: '20s' } },
    )
    expect(stderr).toContain('remote software version Greeter')
  })

  test('text without a line end gets its answer', async () => {
    const { stdout } = await run(
      python(
        `s = socket.create_connection(("${GRANTED}", ${String(repeater.port)})); s.sendall(b"PING"); print(s.recv(9))`,
      ),
      [REPEATER_GRANT],
    )
    expect(stdout).toBe("b'PING'\n")
  })

  test('events arrive as they are sent, and a WebSocket works in both directions', async () => {
    const url = `https://${at(lively.port)}/`
    const events = await run(
      node(
        `fetch('${url}').then(async (answer) => { let pieces = 0, text = ''; for await (const piece of ` +
          'answer.body) { pieces++; text += Buffer.from(piece) } console.log(pieces > 1, JSON.stringify(text)) })',
      ),
      [at(lively.port)],
    )
    expect(events.stdout).toBe('true "data: 1\\n\\ndata: 2\\n\\ndata: 3\\n\\n"\n')
    const socket = await run(
      node(`
      const request = require('https').request('${url}', { headers: { Connection: 'Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Version': 13, 'Sec-WebSocket-Key': 'AAAAAAAAAAAAAAAAAAAAAA==' } })
      request.on('upgrade', (answer, socket) => {
        socket.write(Buffer.from([0x81, 0x84, 1, 2, 3, 4, 0x70 ^ 1, 0x69 ^ 2, 0x6e ^ 3, 0x67 ^ 4]))
        socket.once('data', (frame) => { console.log(answer.statusCode, frame.subarray(2).toString()); socket.destroy() })
      }).end()`),
      [at(lively.port)],
    )
    expect(socket.stdout).toBe('101 ping\n')
  })

  test('programs that try both address families at once find the working one', async () => {
    const { stdout } = await run(
      python(
        `async def one(**more): r, w = await asyncio.open_connection("${GRANTED}", ${String(repeater.port)}, ` +
          `**more); w.write(b"eyes\\n"); print((await r.readline()).decode(), end=""); w.close()`,
        'asyncio.run(one(happy_eyeballs_delay=0.1, interleave=1))',
        `print([f.name for f in {a[0] for a in socket.getaddrinfo("${GRANTED}", 80)}])`,
      ),
      [REPEATER_GRANT],
    )
    expect(stdout).toBe("eyes\n['AF_INET']\n")
    const node20 = await run(
      node(
        `require('net').connect({ host: '${GRANTED}', port: ${String(repeater.port)}, autoSelectFamily: true ` +
          `}).on('data', (said) => { console.log(String(said)); process.exit() }).write('eyes')`,
      ),
      [REPEATER_GRANT],
    )
    expect(node20.stdout).toBe('eyes\n')
  })

  test('200 connections of 20 threads with TLS', IN_MATRIX, async () => {
    const { stdout } = await run(
      python(
        'context = ssl.create_default_context(); good = []',
        `def some():\n  for i in range(10): ` +
          'good.append(urllib.request.build_opener(urllib.request.ProxyHandler({}), ' +
          `urllib.request.HTTPSHandler(context=context)).open("https://${WEB_GRANT}/%d" % i).status)`,
        'threads = [threading.Thread(target=some) for i in range(20)]; [t.start() for t in threads]; ' +
          '[t.join() for t in threads]; print(good.count(200))',
      ),
      [WEB_GRANT],
      { limits: { wall: '50s' } },
    )
    expect(stdout).toBe('200\n')
  })

  test('a resolver with datagrams finds only granted names, where datagrams exist', async () => {
    const asked = (name: string) =>
      run([...programs.command('own-resolver'), name, String(repeater.port)], [REPEATER_GRANT])
    const [granted, other] = [await asked(GRANTED), await asked('other.test')]
    if (cell.form === 'namespaces') {
      expect([granted.stdout, other.stdout]).toEqual(['by datagram\n', 'no such name\n'])
      expect(other.result.violations).toContainEqual({ kind: 'lookup', name: 'other.test' })
    } else {
      // It is told so at once, and has the proxy's variables.
      expect([exitCodeOf(granted.result), granted.stderr]).toEqual([
        70,
        expect.stringContaining('datagrams: Permission denied'),
      ])
    }
  })

  test('a client certificate of the tool reaches a server with a direct grant', async () => {
    const server = await startHttps(
      (request, response) => {
        const certificate = (
          request.socket as { getPeerCertificate?: () => { readonly subject?: { readonly CN?: string } } }
        ).getPeerCertificate?.()
        response.end(`known as ${String(certificate?.subject?.CN)}`)
      },
      { asksClients: true },
    )
    try {
      const folder = join(programs.folder, 'client')
      mkdirSync(folder, { recursive: true })
      writeFileSync(join(folder, 'authority.pem'), serverAuthority.certificate)
      const made = spawnSync('openssl', [
        'req',
        '-x509',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:prime256v1',
        '-nodes',
        '-subj',
        '/CN=tool',
        '-keyout',
        join(folder, 'key.pem'),
        '-out',
        join(folder, 'certificate.pem'),
      ])
      expect(made.status).toBe(0)
      const argv = [
        'curl',
        '-sS',
        '--http1.1',
        '--noproxy',
        '*',
        '--cacert',
        join(folder, 'authority.pem'),
        '--cert',
        join(folder, 'certificate.pem'),
        '--key',
        join(folder, 'key.pem'),
        `https://${at(server.port)}/`,
      ]
      const direct = { host: at(server.port), action: 'direct' } as unknown as string
      expect((await run(argv, [direct])).stdout).toBe('known as tool')
    } finally {
      await server.close()
    }
  })

  test("Java, which uses the system's resolver", IN_MATRIX, async (context) => {
    needs(context, spawnSync('javac', ['-version']).error === undefined, 'no JDK is installed')
    const folder = join(programs.folder, 'java')
    mkdirSync(folder, { recursive: true })
    copyFileSync(new URL('programs/Fetch.java', import.meta.url), join(folder, 'Fetch.java'))
    expect(spawnSync('javac', ['-d', folder, join(folder, 'Fetch.java')]).status).toBe(0)
    // As docs/egress.md says it: Java trusts what is in a store of its own.
    const script = `keytool -importcert -noprompt -alias cordon -storetype JKS -storepass changeit -keystore $TMPDIR/trust -file $SSL_CERT_FILE 2>/dev/null
      java -XX:+UseSerialGC -Djavax.net.ssl.trustStore=$TMPDIR/trust -cp ${folder} Fetch http://${at(plain.port)}/java https://${WEB_GRANT}/java ${GRANTED} ${String(repeater.port)}`
    const settings = readdirSync('/etc')
      .filter((name) => name.startsWith('java-'))
      .map((name) => `/etc/${name}`)
    const { stdout, stderr } = await run(['/bin/sh', '-c', script], [at(plain.port), WEB_GRANT, REPEATER_GRANT], {
      filesystem: { read: settings },
    })
    expect({
      stdout: stdout.split('\n').map((line) => (line.includes('"url":"/java"') ? 'fetched' : line)),
      stderr,
    }).toEqual({ stdout: ['fetched', 'fetched', 'by stream', ''], stderr: '' })
  })
})
