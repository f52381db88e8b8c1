// Attempts to bypass a grant of hosts, each beside something granted.
import { once } from 'node:events'
import { connect } from 'node:net'
import { networkInterfaces } from 'node:os'

import { expect, test } from 'vitest'

import { startHttp } from '../egress/servers.js'

import {
  GRANTED,
  OTHER,
  REBOUND,
  REPEATER_GRANT,
  WEB_GRANT,
  besideCall,
  lookedUp,
  python,
  repeater,
  runGranted,
  web,
} from './granted-hosts.js'
import type { GrantedOptions } from './granted-hosts.js'
import { describeForms, expectHeld, inMainCells, programs } from './harness.js'
import { NO_ARRIVALS, startListeners } from './host-services.js'
import { playground } from './playground.js'
import { parseRoutes } from './outcomes.js'

/** What arrived at a server without TLS, by the host that was asked for. */
const seen: string[] = []
const plain = await startHttp((request, response) => {
  seen.push(`${String(request.method)} ${String(request.headers.host)}${String(request.url)}`)
  response.end('well')
})
const PLAIN_GRANT = `${GRANTED}:${String(plain.port)}`

const text = (lines: readonly string[]): string => JSON.stringify(lines)

/** Says a thing on a connection and prints what comes back, or how it went wrong. */
const SAY = [
  'def say(s, said):',
  '  s.settimeout(5)',
  '  try:',
  '    s.sendall(said); got = b""',
  '    while True:',
  '      more = s.recv(4096)',
  '      if not more: return got',
  '      got += more',
  '      if b"\\r\\n\\r\\n" in got: return got',
  '  except OSError as e: return got or type(e).__name__.encode()',
  'proxy = urllib.parse.urlparse(os.environ["HTTP_PROXY"])',
  'own = base64.b64encode(("cordon:" + proxy.password).encode()).decode()',
  'def status(answer): return answer.split(b" ")[1].decode() if answer.startswith(b"HTTP/") else "cut off"',
].join('\n')

/** An open connection does not outlive its call; that it is gone may take the kernel a moment to tell. */
const untilNoneIsOpen = async (): Promise<number> => {
  for (let tries = 0; tries < 100 && repeater.open() + web.open() > 0; tries++)
    await new Promise((resolve) => setTimeout(resolve, 50))
  return repeater.open() + web.open()
}

/** Connections are accepted in their order, so those of earlier calls are counted before this one is answered. */
const untilAllAreCounted = async (): Promise<void> => {
  const socket = connect(repeater.port, '127.0.0.1')
  socket.write('x')
  await once(socket, 'data')
  socket.destroy()
}

describeForms('a grant of hosts', (cell) => {
  const run = (
    argv: readonly string[],
    network: readonly string[] = [WEB_GRANT, REPEATER_GRANT],
    options: GrantedOptions = {},
  ) => runGranted(cell, network, argv, options)

  test(
    'adds nothing to the sockets of a tool, also if the tool writes before connect() returns',
    inMainCells(cell),
    async () => {
      const port = REPEATER_GRANT.split(':')[1] ?? ''
      const { stdout } = await run(
        python(
          'import threading',
          `def heard(s):\n  s.settimeout(10); return s.recv(200)`,
          // Copies of everything that leaves, with the time when it did.
          's = socket.socket(); s.setsockopt(socket.SOL_SOCKET, 37, (1 << 1) | (1 << 4) | (1 << 8) | (1 << ' +
            `9)); s.connect(("${GRANTED}", ${port})); time.sleep(0.2)`,
          'try: print(s.recvmsg(4096, 1024, socket.MSG_ERRQUEUE | socket.MSG_DONTWAIT))\nexcept ' +
            'BlockingIOError: print("no copies")',
          's.sendall(b"mine"); print(heard(s))',
          // A thread that writes as soon as it can.
          'def early(s):\n  while True:\n    try: return s.send(b"early")\n    except OSError: pass',
          's = socket.socket(); t = threading.Thread(target=early, args=[s]); t.start(); ' +
            `s.connect(("${GRANTED}", ${port})); t.join(); print(heard(s))`,
          // connect() that would only be carried out with the first byte.
          `s = socket.socket(); s.setsockopt(6, 30, 1); s.setsockopt(6, 34, 1); s.connect(("${GRANTED}", ` +
            `${port})); s.sendall(b"late"); print(heard(s))`,
        ),
      )
      expect(stdout.trim().split('\n')).toEqual(['no copies', "b'mine'", "b'early'", "b'late'"])
    },
  )

  test('cannot move to another port by rewriting an address or reusing a socket', inMainCells(cell), async () => {
    const { folder } = playground()
    const [granted, other] = await Promise.all([startListeners(folder('granted')), startListeners(folder('other'))])
    const argv = [
      ...programs.command('reused-sockets'),
      String(granted.tcp),
      String(other.tcp),
      String(other.udp),
      '1000',
    ]
    const { result, stdout, stderr } = await run(argv, [`127.0.0.1:${String(granted.tcp)}`])
    expect(await other.arrivals()).toEqual(NO_ARRIVALS)
    await run(
      python(
        `s = socket.create_connection(("127.0.0.1", ${String(granted.tcp)})); s.sendall(b"twin\\n"); ` +
          `s.settimeout(10)\ntry: s.recv(9)\nexcept OSError: pass`,
      ),
      [`127.0.0.1:${String(granted.tcp)}`],
    )
    expect((await granted.arrivals())['tcp']).toBeGreaterThan(0)
    expectHeld(
      { kind: 'ran', result, stdout, stderr, routes: parseRoutes(stdout) },
      cell.form === 'namespaces' ? { 'message-address': 'a datagram to nobody' } : {},
    )
  })

  test('cannot move to other addresses, in any spelling', async () => {
    const { outside } = playground()
    const host = await startListeners(outside)
    const own = Object.values(networkInterfaces())
      .flat()
      .filter((each) => each !== undefined && !each.internal)
      .map((each) => each?.address ?? '')
    const spellings = [
      '127.0.0.1',
      '0.0.0.0',
      '0',
      '127.1',
      '127.0.1',
      '2130706433',
      '0177.0.0.1',
      '0x7f.0.0.1',
      '0x7f000001',
      'localhost',
      '127.9.9.9',
      '::',
      '::1',
      '::ffff:127.0.0.1',
      '::ffff:0.0.0.0',
      '::127.0.0.1',
      '::ffff:0:127.0.0.1',
      '64:ff9b::127.0.0.1',
      '2002:7f00:1::',
      'fe80::1%lo',
      '169.254.169.254',
      'fd00:ec2::254',
      '198.18.0.1',
      '198.19.255.255',
      '22.18.0.1',
      '22.19.255.255',
      ...own,
    ]
    const { stdout } = await run(
      python(
        SAY,
        `for at in ${text(spellings)}:`,
        '  try: s = socket.create_connection((at, ' +
          String(host.tcp) +
          '), 5); s.sendall(b"planted\\n"); print("REACHED", at)',
        '  except OSError as e: print("refused", at)',
        '  wrapped = "[%s]" % at if ":" in at else at',
        `  target = "%s:${String(host.tcp)}" % wrapped`,
        '  s = socket.create_connection((proxy.hostname, proxy.port)); print(status(say(s, ("CONNECT %s ' +
          'HTTP/1.1\\r\\nHost: %s\\r\\nProxy-Authorization: Basic %s\\r\\n\\r\\n" % (target, target, ' +
          'own)).encode())), "CONNECT", at)',
        '  s = socket.create_connection((proxy.hostname, proxy.port)); print(status(say(s, ("GET http://%s/ ' +
          `HTTP/1.1\\r\\nHost: %s\\r\\nProxy-Authorization: Basic %s\\r\\n\\r\\n" % (target, target, ` +
          'own)).encode())), "GET", at)',
        `s = socket.create_connection(("${GRANTED}", ${String(repeater.port)})); s.sendall(b"twin\\n"); ` +
          'print(s.recv(9).decode(), end="")',
      ),
    )
    expect(await host.arrivals()).toEqual(NO_ARRIVALS)
    const lines = stdout.trimEnd().split('\n')
    expect(lines.at(-1)).toBe('twin')
    expect(lines.slice(0, -1).filter((line) => !/^(refused|400|403|cut off) /.test(line))).toEqual([])
    expect(lines).toHaveLength(3 * spellings.length + 1)
  })

  test('does not cover an address to which its name is redirected', async () => {
    const before = repeater.connections()
    const port = String(repeater.port)
    const { result, stdout } = await run(
      python(
        `for name in ${text([...Object.keys(REBOUND), 'changing.test'])}:`,
        `  try: s = socket.create_connection((name, ${port}), 5); s.sendall(b"planted\\n"); print(name, s.recv(99))`,
        '  except OSError as e: print(name, type(e).__name__)',
      ),
      Object.keys(REBOUND).map((name) => `${name}:${port}`),
    )
    expect(stdout).not.toContain('planted')
    expect(repeater.connections()).toBe(before)
    const refused = result.violations.filter((violation) => violation.kind === 'egress')
    expect(refused.map((violation) => violation.reason)).toEqual(refused.map(() => 'address'))
    expect(new Set(refused.map(({ host }) => host))).toEqual(new Set(Object.keys(REBOUND)))
    const twin = await run(
      python(`s = socket.create_connection(("loopback.test", ${port}), 5); s.sendall(b"twin\\n"); print(s.recv(99))`),
      [`loopback.test:${port}`, `127.0.0.1:${port}`],
    )
    expect(twin.stdout).toBe("b'twin\\n'\n")
  })

  test('resolves only names that are connected to', inMainCells(cell), async () => {
    const before = lookedUp().length
    const { stdout, result } = await run(
      python(
        'def name(text): return b"".join(bytes([len(l)]) + l for l in (x.encode() for x in text.split("."))) + b"\\0"',
        'def question(text, kind=1, cls=1, head=b"\\x01\\0\\0\\x01\\0\\0\\0\\0\\0\\0"): return b"ab" + head ' +
          '+ name(text) + struct.pack(">HH", kind, cls)',
        'def over_stream(q):\n  s = socket.create_connection(("192.0.2.53", 53), 5); ' +
          's.sendall(struct.pack(">H", len(q)) + q)\n  size = s.recv(2)\n  return s.recv(int.from_bytes(size, ' +
          '"big")) if len(size) == 2 else b""',
        'def over_datagram(q):\n  s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(1); ' +
          's.sendto(q, ("127.0.0.1", 53))\n  try: return s.recv(999)\n  except OSError: return b""',
        `ways = [over_stream] + ([over_datagram] if ${cell.form === 'namespaces' ? 'True' : 'False'} else [])`,
        'code = lambda a: (a[3] & 15, int.from_bytes(a[6:8], "big")) if len(a) >= 12 else "nothing"',
        'for ask in ways:',
        `  print("twin", code(ask(question("${GRANTED}"))), code(ask(question("${GRANTED.toUpperCase()}"))))`,
        `  print("granted", [code(ask(question("${GRANTED}", kind))) for kind in (16, 255, 252, 10, 28, 15, 33, 65)])`,
        `  print("other", [code(ask(question("exfiltrated.${OTHER}", kind))) for kind in (1, 16, 255, 252, 10, 28)])`,
        `  print("class", code(ask(question("${GRANTED}", 1, 3))))`,
        '  print("long", code(ask(question(".".join(["a" * 63, "b" * 63, "c" * 63, "d" * 50, ' +
          `"${OTHER}"])))), code(ask(question("x" * 63 + ".${GRANTED}"))))`,
        `  print("odd", [code(ask(q)) for q in (b"ab" + b"\\x01\\0\\0\\x01\\0\\0\\0\\0\\0\\0" + ` +
          `b"\\xc0\\x0c\\0\\x01\\0\\x01", question("${GRANTED}", head=b"\\x01\\0\\0\\x02\\0\\0\\0\\0\\0\\0"), ` +
          `question("${GRANTED}", head=b"\\x28\\0\\0\\x01\\0\\0\\0\\0\\0\\0"), question("${GRANTED}", ` +
          `head=b"\\x81\\0\\0\\x01\\0\\0\\0\\0\\0\\0"), b"ab", question("${GRANTED}") + b"tail", ` +
          `question("a\\0b.${GRANTED}"), question(" ${GRANTED}"))])`,
      ),
    )
    const answers = [
      'twin (0, 1) (0, 1)',
      `granted [${Array.from({ length: 8 }, () => '(0, 0)').join(', ')}]`,
      `other [${Array.from({ length: 6 }, () => '(3, 0)').join(', ')}]`,
      'class (3, 0)',
      'long (3, 0) (3, 0)',
      "odd [(1, 0), (1, 0), (4, 0), 'nothing', 'nothing', (1, 0), (3, 0), (3, 0)]",
    ]
    expect(stdout.trimEnd().split('\n')).toEqual(cell.form === 'namespaces' ? [...answers, ...answers] : answers)
    expect(lookedUp().length).toBe(before)
    expect(result.violations).toContainEqual({ kind: 'lookup', name: `exfiltrated.${OTHER}` })
  })

  test('answers threads that ask for names at the same time, and one who asks too often alone loses', async () => {
    const { stdout } = await run(
      python(
        `name = b"".join(bytes([len(l)]) + l for l in b"${GRANTED}".split(b".")) + b"\\0"`,
        'question = b"ab\\x01\\0\\0\\x01\\0\\0\\0\\0\\0\\0" + name + b"\\0\\1\\0\\1"',
        'question = struct.pack(">H", len(question)) + question',
        'def answered(s):\n  try: s.sendall(question); return s.recv(999) != b""\n  except OSError: return False',
        'begin = lambda count: [socket.create_connection(("192.0.2.53", 53), 5) for _ in range(count)]',
        'print([answered(s) for s in begin(200)].count(True))',
        'many = begin(400); print(100 < [answered(s) for s in many].count(True) <= 256, answered(many[-1]))',
        'print([answered(s) for s in begin(1)])',
      ),
    )
    expect(stdout).toBe('200\nTrue True\n[True]\n')
  })

  test('accepts only requests with one reading, for the host of the connection', async () => {
    const requests = [
      `GET /absolute HTTP/1.1\r\nHost: ${OTHER}\r\n\r\n`,
      `GET http://${OTHER}/absolute HTTP/1.1\r\nHost: ${PLAIN_GRANT}\r\n\r\n`,
      `GET http://${PLAIN_GRANT}/absolute HTTP/1.1\r\nHost: ${OTHER}\r\n\r\n`,
      `GET http://${GRANTED}@${OTHER}/ HTTP/1.1\r\nHost: ${PLAIN_GRANT}\r\n\r\n`,
      `GET /twice HTTP/1.1\r\nHost: ${PLAIN_GRANT}\r\nHost: ${OTHER}\r\n\r\n`,
      `GET /without HTTP/1.1\r\n\r\n`,
      `GET /folded HTTP/1.1\r\nHost: ${PLAIN_GRANT}\r\nX: a\r\n b\r\n\r\n`,
      `GET /spaced HTTP/1.1\r\nHost : ${OTHER}\r\nHost: ${PLAIN_GRANT}\r\n\r\n`,
      `POST /both HTTP/1.1\r\nHost: ${PLAIN_GRANT}\r\nContent-Length: 4\r\nTransfer-Encoding: ` +
        `chunked\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: ${OTHER}\r\n\r\n`,
      `POST /coded HTTP/1.1\r\nHost: ${PLAIN_GRANT}\r\nTransfer-Encoding: xchunked\r\n\r\n`,
      `POST /lengths HTTP/1.1\r\nHost: ${PLAIN_GRANT}\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nabcd`,
      `GET /feeds HTTP/1.1\nHost: ${PLAIN_GRANT}\n\n`,
      `CONNECT ${OTHER}:443 HTTP/1.1\r\nHost: ${OTHER}:443\r\n\r\n`,
      `TRACE / HTTP/1.1\r\nHost: ${PLAIN_GRANT}\r\n\r\n`,
      `\r\n\r\nGET /blank HTTP/1.1\r\nHost: ${OTHER}\r\n\r\n`,
    ]
    seen.length = 0
    const { stdout } = await run(
      python(
        SAY,
        `for request in ${text(requests)}: print(status(say(socket.create_connection(("${GRANTED}", ` +
          `${String(plain.port)})), request.encode())))`,
        `print(status(say(socket.create_connection(("${GRANTED}", ${String(plain.port)})), b"GET /twin ` +
          `HTTP/1.1\\r\\nHost: ${PLAIN_GRANT}\\r\\n\\r\\n")))`,
      ),
      [PLAIN_GRANT],
    )
    const statuses = stdout.trimEnd().split('\n')
    expect(statuses.at(-1)).toBe('200')
    expect(statuses.slice(0, -1).filter((status) => !/^(4\d\d|cut off)$/.test(status))).toEqual([])
    expect(seen).toEqual([`GET ${PLAIN_GRANT}/twin`])
  })

  test('is for the name in TLS and in :authority, also behind CONNECT', async () => {
    const port = String(web.port)
    const { stdout } = await run(
      python(
        SAY,
        'context = ssl.create_default_context(); context.check_hostname = False; context.verify_mode = ssl.CERT_NONE',
        'def secured(s, name):\n  try: return context.wrap_socket(s, server_hostname=name)\n  except ' +
          'OSError: return None',
        `def tunnel():\n  s = socket.create_connection((proxy.hostname, proxy.port)); said = "CONNECT ` +
          `${WEB_GRANT} HTTP/1.1\\r\\nHost: ${WEB_GRANT}\\r\\nProxy-Authorization: Basic %s\\r\\n\\r\\n" % ` +
          `own\n  return s if status(say(s, said.encode())) == "200" else None`,
        `def ask(s, host): return "no TLS" if s is None else status(say(s, ("GET / HTTP/1.1\\r\\nHost: ` +
          `%s\\r\\n\\r\\n" % host).encode()))`,
        `direct = lambda: socket.create_connection(("${GRANTED}", ${port}))`,
        'for reach in (direct, tunnel):',
        `  print(ask(secured(reach(), "${OTHER}"), "${OTHER}:${port}"), ask(secured(reach(), "${GRANTED}"), ` +
          `"${OTHER}:${port}"), ask(secured(reach(), None), "${OTHER}:${port}"), ask(secured(reach(), ` +
          `"${GRANTED}"), "${WEB_GRANT}"))`,
      ),
      [WEB_GRANT],
    )
    expect(stdout).toBe('no TLS 403 403 200\nno TLS 403 403 200\n')
    const http2 = await run(
      [
        process.execPath,
        '-e',
        `
      const session = require('http2').connect('https://${WEB_GRANT}')
      const ask = (headers) => new Promise((resolve) => {
        const stream = session.request({ ':path': '/', ...headers })
        stream.on('response', (answer) => resolve(answer[':status'])).on('error', (error) => resolve(error.code)).resume()
      })
      void (async () => {
        console.log(await ask({ ':authority': '${OTHER}' }), await ask({ ':authority': '${WEB_GRANT}', host: '${OTHER}' }), await ask({ ':authority': '${WEB_GRANT}' }))
        session.close()
      })()`,
      ],
      [WEB_GRANT],
    )
    expect(http2.stdout).toMatch(/^(403|400|ERR_HTTP2_STREAM_ERROR) (403|400|ERR_HTTP2_STREAM_ERROR) 200\n$/)
  })

  test('cannot be used with its secret by another call or process on this host', async () => {
    const before = repeater.connections()
    const asked = (secret: string) => [
      SAY,
      `theirs = base64.b64encode(("cordon:" + ${secret}).encode()).decode()`,
      `print(status(say(socket.create_connection((proxy.hostname, proxy.port)), ("CONNECT ${REPEATER_GRANT} ` +
        `HTTP/1.1\\r\\nHost: ${REPEATER_GRANT}\\r\\nProxy-Authorization: Basic %s\\r\\n\\r\\n" % ` +
        'theirs).encode())))',
    ]
    const foreign = await besideCall([REPEATER_GRANT], (secret) =>
      run(python(...asked(JSON.stringify(secret))), [WEB_GRANT]),
    )
    expect(foreign.stdout).toBe('407\n')
    expect((await run(python(...asked('proxy.password')), [REPEATER_GRANT])).stdout).toBe('200\n')
    expect(repeater.connections() - before).toBeLessThanOrEqual(1)
  })

  test('gives no other process on this host access', inMainCells(cell), async () => {
    // In a network namespace nobody else can even ask.
    let answer: Promise<string> | undefined
    let told = ''
    await run(
      python(
        `s = socket.create_connection(("${GRANTED}", ${REPEATER_GRANT.split(':')[1] ?? ''})); ` +
          'print(s.getpeername()[1], os.environ["HTTP_PROXY"], flush=True); time.sleep(1.5); ' +
          's.sendall(b"own"); s.settimeout(10); print(s.recv(9))',
      ),
      [REPEATER_GRANT],
      {
        onStdout: (said) => {
          told += said
          if (answer !== undefined) return
          const [port, proxy = ''] = said.trim().split(' ')
          answer = new Promise((resolve) => {
            let heard = ''
            const socket = connect(Number(port), '127.0.0.1', () => {
              socket.write(
                `CONNECT ${REPEATER_GRANT} HTTP/1.1\r\nHost: ${REPEATER_GRANT}\r\nProxy-Authorization: Basic ` +
                  `${Buffer.from(`cordon:${new URL(proxy).password}`).toString('base64')}\r\n\r\n`,
              )
            })
            socket.on('data', (bytes) => {
              heard += bytes.toString('latin1')
            })
            socket
              .on('error', () => undefined)
              .on('close', () => {
                resolve(heard)
              })
          })
        },
      },
    )
    expect(await answer).toBe('')
    expect(told).toContain("b'own'")
  })

  test('lets no socket drop the data that the keeper waits for', async () => {
    const { stdout } = await run(
      python(
        'def tried(make, level, name, value):\n  try: make().setsockopt(level, name, value); return "done"\n ' +
          ' except OSError as e: return errno.errorcode.get(e.errno, str(e))',
        'v4, v6 = (lambda: socket.socket()), (lambda: socket.socket(socket.AF_INET6))',
        'print(tried(v4, 0, 21, 255), tried(v6, 41, 73, 255), tried(v4, 6, 14, bytes(216)), tried(v4, 6, 32, ' +
          'bytes(216)), tried(v4, 1, 26, bytes(16)), tried(v4, 1, 50, 0))',
        'print(tried(v4, 0, 2, 64), tried(v4, 6, 1, 1))',
      ),
      [REPEATER_GRANT],
    )
    expect(stdout).toBe('EPERM EPERM EPERM EPERM EPERM EPERM\ndone done\n')
  })

  test('allows no listening socket, and no other way for a packet to leave', async () => {
    const { stdout } = await run(
      python(
        'def tried(act):\n  try: act(); return "done"\n  except OSError as e: return ' +
          'errno.errorcode.get(e.errno, str(e))',
        'def option(level, name, value): return tried(lambda: socket.socket().setsockopt(level, name, value))',
        'print(option(1, 25, b"lo"), option(1, 62, struct.pack("i", 1)), option(0, 4, ' +
          'b"\\x83\\x07\\x04\\xc0\\x00\\x02\\x01\\x00"), option(0, 50, struct.pack(">i", 1)))',
        'def listen(bound):\n  s = socket.socket()\n  if bound: s.bind(("0.0.0.0", 0))\n  s.listen(1)',
        'print(tried(lambda: listen(True)), tried(lambda: listen(False)))',
        'print(option(6, 1, 1), option(1, 9, 1), option(6, 30, 1))',
        `s = socket.socket(); address = socket.getaddrinfo("${GRANTED}", ${String(repeater.port)}, ` +
          'socket.AF_INET)[0][4]',
        'print(tried(lambda: s.sendto(b"x", socket.MSG_FASTOPEN, address)))',
        's = socket.socket(); s.setsockopt(6, 30, 1); s.connect(address); s.sendall(b"twin\\n"); ' +
          'print(s.recv(9).decode(), end="")',
        'import ctypes; libc = ctypes.CDLL(None, use_errno=True); print(libc.syscall(425, 8, ' +
          'ctypes.create_string_buffer(256)), errno.errorcode[ctypes.get_errno()])',
      ),
      [REPEATER_GRANT],
    )
    const [routing, listening, usual, ...rest] = stdout.trimEnd().split('\n')
    if (cell.form === 'landlock') expect([routing, listening]).toEqual(['EPERM EPERM EPERM EPERM', 'EACCES EACCES'])
    expect([usual, ...rest]).toEqual(['done done done', 'ENOTSUP', 'twin', '-1 ENOSYS'])
  })

  test('never shows the processes that make connections, at any moment', inMainCells(cell), async () => {
    const { stdout, stderr } = await run(
      python(
        'own = os.getpid(); shown = set(); going = True; met = set()',
        `def dial():\n  while going:\n    s = socket.socket()\n    try: s.connect(("${GRANTED}", ` +
          `${String(repeater.port)}))\n    except OSError: pass\n    s.close()`,
        'def look(path):',
        '  if path.endswith(("cwd", "exe", "0", "3", "5")): return os.readlink(path)',
        '  return os.listdir(path) if path.endswith("etc") else open(path, "rb").read(1)',
        'threads = [threading.Thread(target=dial, daemon=True) for i in range(4)]; [t.start() for t in ' +
          'threads]; end = time.time() + 2',
        'while time.time() < end:',
        // Without a pid namespace there is no list of processes, but they have numbers all the same.
        '  for pid in range(1, own + 40) if own < 1000 else range(own - 40, own + 400):',
        '    if os.path.exists("/proc/self/task/%d" % pid): continue',
        '    try: os.kill(pid, 0)\n    except ProcessLookupError: continue\n    except OSError: pass\n    met.add(pid)',
        '    for name in ("mem", "environ", "maps", "fd/0", "fd/3", "fd/5", "root/etc", "cwd", "exe", "auxv", "stack"):',
        '      try:\n        if look("/proc/%d/%s" % (pid, name)): shown.add(name)\n      except OSError: pass',
        'going = False; print(sorted(shown), len(met) > 0)',
      ),
      [REPEATER_GRANT],
    )
    expect({ stdout, stderr }).toEqual({ stdout: '[] True\n', stderr: '' })
  })

  test('limits names: endless requests are answered up to a limit, and harm nobody', inMainCells(cell), async () => {
    const { stdout, result } = await run(
      python(
        'def known(name):\n  try: socket.getaddrinfo(name, 80, socket.AF_INET, socket.SOCK_STREAM); return ' +
          'True\n  except OSError: return False',
        `print(known("first.deep.${GRANTED}"))`,
        `print(sum(known("n%d.deep.${GRANTED}" % i) for i in range(4200)) <= 4096)`,
        `print(any(known("n%d.${OTHER}" % i) for i in range(700)))`,
        `print(known("first.deep.${GRANTED}"))`,
      ),
      [`*.deep.${GRANTED}:${String(repeater.port)}`],
      { limits: { wall: '50s' } },
    )
    expect(stdout).toBe('True\nTrue\nFalse\nTrue\n')
    expect(result.violations.length).toBeLessThanOrEqual(512)
  })

  test('leaves nothing open after its call, also of unfinished work', inMainCells(cell), async () => {
    await untilAllAreCounted()
    const before = [repeater.connections(), web.connections()]
    const { stdout } = await run(
      python(
        SAY,
        `def to(port): return socket.create_connection(("${GRANTED}", port))`,
        `talking = [to(${String(repeater.port)}) for i in range(5)]`,
        'for s in talking: s.sendall(b"x\\n"); s.recv(1)',
        'talking[0].shutdown(socket.SHUT_WR)',
        `begun = to(${String(web.port)}); begun.sendall(b"\\x16\\x03\\x01\\x02\\x00\\x01")`,
        `context = ssl.create_default_context(); context.check_hostname = False; context.verify_mode = ssl.CERT_NONE`,
        `secured = context.wrap_socket(to(${String(web.port)}), server_hostname="${GRANTED}"); ` +
          `secured.sendall(b"POST /half HTTP/1.1\\r\\nHost: ${WEB_GRANT}\\r\\nContent-Length: ` +
          `100\\r\\n\\r\\nhalf")`,
        'tunnel = socket.create_connection((proxy.hostname, proxy.port)); say(tunnel, ("CONNECT ' +
          `${REPEATER_GRANT} HTTP/1.1\\r\\nProxy-Authorization: Basic %s\\r\\n\\r\\n" % own).encode()); ` +
          `tunnel.sendall(b"x\\n"); tunnel.recv(1)`,
        'silent = socket.create_connection((proxy.hostname, proxy.port))',
        'if os.fork() == 0: os.setsid(); time.sleep(60)',
        'time.sleep(1.5); print("left", flush=True); os._exit(0)',
      ),
    )
    expect(stdout).toBe('left\n')
    expect([repeater.connections() - (before[0] ?? 0), web.connections() - (before[1] ?? 0)]).toEqual([6, 1])
    expect(await untilNoneIsOpen()).toBe(0)
  })
})
