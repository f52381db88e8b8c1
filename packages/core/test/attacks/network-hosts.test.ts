import { parse as parseAddress } from 'ipaddr.js'
import { expect, test } from 'vitest'

import { exitCodeOf } from '../../../../test/ending.js'
import { needs } from '../../../../test/requirement.js'
import { has } from '../egress/programs.js'

import {
  GRANTED,
  OTHER,
  REPEATER_GRANT,
  WEB_GRANT,
  lookedUp,
  python,
  recorded,
  repeater,
  runGranted,
  web,
} from './granted-hosts.js'
import { describeForms, expectHeld, programs } from './harness.js'
import { NO_ARRIVALS, startListeners } from './host-services.js'
import { playground } from './playground.js'
import { parseRoutes } from './outcomes.js'

const URL = `https://${WEB_GRANT}`

/** A program that knows of no proxy. */
const CLIENTS: Readonly<Record<string, readonly string[]>> = {
  'curl': ['curl', '-sS', '--noproxy', '*', `${URL}/curl`],
  'curl by HTTP/1.1': ['curl', '-sS', '--http1.1', '--noproxy', '*', `${URL}/curl-1`],
  'urllib of Python': python(
    `print(urllib.request.build_opener(urllib.request.ProxyHandler({})).open("${URL}/urllib").read().decode())`,
  ),
  'fetch of Node': [process.execPath, '-e', `fetch("${URL}/fetch").then((r) => r.text()).then(console.log)`],
  'https of Node': [process.execPath, '-e', `require("https").get("${URL}/https", (r) => r.pipe(process.stdout))`],
}

describeForms('granted hosts', (cell) => {
  const run = (
    argv: readonly string[],
    network: Parameters<typeof runGranted>[1] = [WEB_GRANT, REPEATER_GRANT],
    policy: Parameters<typeof runGranted>[3] = {},
  ) => runGranted(cell, network, argv, policy)

  test.each(Object.keys(CLIENTS))('are reached by %s without any setting', async (name) => {
    const { result, stdout, stderr } = await run(CLIENTS[name] ?? [])
    expect({ exit: exitCodeOf(result), stderr, violations: result.violations }).toEqual({
      exit: 0,
      stderr: '',
      violations: [],
    })
    expect(stdout).toContain('GET')
    expect(result.profile).toMatchObject({
      network: [WEB_GRANT, REPEATER_GRANT],
      enforced: { network: expect.arrayContaining(['broker']) as unknown },
    })
  })

  test('are reached by a program that takes the proxy from its variables', async () => {
    const { result, stdout } = await run(['curl', '-sS', `${URL}/by-proxy`])
    expect(exitCodeOf(result)).toBe(0)
    expect(stdout).toContain('/by-proxy')
  })

  test('are reached by wget, which reads certificates of the system and of its settings', async (context) => {
    needs(context, has('wget'), 'wget is not installed')
    const { stdout, stderr } = await run(['wget', '--no-proxy', '-qO-', `${URL}/wget`])
    // Without a root of its own a cell has the system's settings, which it may not read.
    expect({ stdout: stdout.includes('/wget'), stderr: stderr.replaceAll(/.*\/etc\/wgetrc.*\n/g, '') }).toEqual({
      stdout: true,
      stderr: '',
    })
  })

  test('are reached by git over https', async (context) => {
    needs(context, has('git'), 'git is not installed')
    await run(['git', '-c', 'http.proxy=', 'ls-remote', `${URL}/repository`])
    expect(recorded()).toContainEqual(
      expect.objectContaining({ type: 'egress.request', path: '/repository/info/refs', status: 200 }),
    )
  })

  test('are reached by streams of any protocol: blocking, non-blocking, polled, in threads, many at once', async () => {
    const [, port = ''] = REPEATER_GRANT.split(':')
    const { result, stdout, stderr } = await run(
      python(
        `host, port = "${GRANTED}", ${port}`,
        'def talk(s, text):\n  s.sendall(text); got = b""\n  while len(got) < len(text):\n    more = ' +
          's.recv(99)\n    if not more: break\n    got += more\n  return got == text',
        'print("blocking", talk(socket.create_connection((host, port)), b"abc\\n"))',
        'address = socket.getaddrinfo(host, port, socket.AF_INET, socket.SOCK_STREAM)[0][4]',
        's = socket.socket(); s.setblocking(False); first = s.connect_ex(address); select.select([], [s], ' +
          '[], 10); second = s.connect_ex(address); s.setblocking(True)',
        'print("not-blocking", first in (0, errno.EINPROGRESS), errno.errorcode.get(second, second), talk(s, ' +
          'b"def\\n"))',
        's6 = socket.socket(socket.AF_INET6); s6.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1); ' +
          's6.connect(("::ffff:" + address[0], port)); print("mapped", talk(s6, b"ghi\\n"))',
        'results = []\ndef one(i): results.append(talk(socket.create_connection((host, port)), b"%d\\n" % i))',
        'threads = [threading.Thread(target=one, args=(i,)) for i in range(40)]; [t.start() for t in ' +
          'threads]; [t.join() for t in threads]; print("threads", results.count(True))',
        'async def many():\n  async def one(i):\n    r, w = await asyncio.open_connection(host, port); ' +
          'w.write(b"x%d\\n" % i); await w.drain(); w.write_eof(); data = await r.read(); w.close(); return ' +
          'data == b"x%d\\n" % i\n  print("at-once", (await asyncio.gather(*[one(i) for i in ' +
          'range(200)])).count(True))',
        'asyncio.run(many())',
      ),
      [REPEATER_GRANT],
    )
    expect({ stdout: stdout.split('\n'), stderr }).toEqual({
      stdout: ['blocking True', 'not-blocking True EISCONN True', 'mapped True', 'threads 40', 'at-once 200', ''],
      stderr: '',
    })
    expect(result.violations).toEqual([])
  })

  test("are reached by a granted address, also one of the host's loopback", async () => {
    const { stdout } = await run(
      python(
        `s = socket.create_connection(("127.0.0.1", ${String(repeater.port)})); s.sendall(b"own\\n"); ` +
          'print(s.recv(9).decode(), end="")',
      ),
      [`127.0.0.1:${String(repeater.port)}`],
    )
    expect(stdout).toBe('own\n')
  })

  test('resolve to addresses that programs take for public ones, and that lead nowhere else', async () => {
    const { stdout, result } = await run(
      python(
        'import ipaddress',
        `address = socket.getaddrinfo("${GRANTED}", ${String(repeater.port)})[0][4][0]; at = ipaddress.ip_address(address)`,
        'print(address, at.is_global, at.is_private or at.is_reserved or at.is_multicast)',
        `s = socket.create_connection((address, ${String(repeater.port)})); s.sendall(b"own\\n"); ` +
          'print(s.recv(9).decode(), end="")',
        'for other in (at + 1, at + 65536, ipaddress.ip_address("22.17.0.1"), ipaddress.ip_address("198.18.0.1")):',
        `  try: socket.create_connection((str(other), ${String(repeater.port)}), 5); print("REACHED", other)`,
        '  except OSError as e: print("refused")',
      ),
    )
    const [address = '', ...checks] = (stdout.split('\n')[0] ?? '').split(' ')
    expect(checks).toEqual(['True', 'False'])
    expect(parseAddress(address).range()).toBe('unicast')
    expect(stdout.split('\n').slice(1)).toEqual(['own', 'refused', 'refused', 'refused', 'refused', ''])
    expect(result.violations.filter(({ kind }) => kind === 'connect')).toHaveLength(4)
  })

  test('do not take the place of an address that is granted itself', async () => {
    const before = repeater.connections()
    const port = String(repeater.port)
    // The keeper lets the granted block through. The proxy refuses this one address of it, so nobody is dialled.
    const { stdout, result } = await run(
      python(
        `print(socket.getaddrinfo("${GRANTED}", ${port})[0][4][0])`,
        `try: s = socket.create_connection(("22.18.0.1", 443), 5); s.sendall(b"x"); print("SAID", s.recv(9))`,
        'except OSError as e: print("refused")',
        `s = socket.create_connection(("${GRANTED}", ${port})); s.sendall(b"own\\n"); print(s.recv(9).decode(), end="")`,
      ),
      [REPEATER_GRANT, '22.18.0.0/16', { host: '22.18.0.1', action: 'deny' }],
    )
    const lines = stdout.split('\n')
    expect(lines[0]).toMatch(/^198\.18\./)
    expect(stdout).not.toContain("SAID b'x")
    expect(lines.at(-2)).toBe('own')
    expect(repeater.connections()).toBe(before + 1)
    expect(result.violations).toContainEqual(
      expect.objectContaining({ kind: 'egress', host: '22.18.0.1', reason: 'denied' }),
    )
  })

  test('are reached below a name, but not at the name itself', async () => {
    const { stdout, result } = await run(
      python(
        `for host in ("deep.${GRANTED}", "${GRANTED}"):\n  try: s = socket.create_connection((host, ` +
          `${String(repeater.port)})); s.sendall(b"own\\n"); print(s.recv(9).decode(), end="")\n  except ` +
          'OSError as e: print(type(e).__name__)',
      ),
      [`*.${GRANTED}:${String(repeater.port)}`],
    )
    expect(stdout).toBe('own\ngaierror\n')
    expect(result.violations).toEqual([{ kind: 'lookup', name: GRANTED }])
  })

  test('cannot be used to reach another name, which is not even looked up', async () => {
    const { result, stderr } = await run(['curl', '-sS', '--noproxy', '*', `https://${OTHER}:${String(web.port)}/`])
    expect(exitCodeOf(result)).toBe(6)
    expect(stderr).toContain('Could not resolve host')
    expect(result.violations).toContainEqual({ kind: 'lookup', name: OTHER })
    await run(
      python(
        ...[`secret-data.${OTHER}`, `${GRANTED}.${OTHER}`, `${GRANTED}x`].map(
          (name) => `try: print(socket.getaddrinfo("${name}", 80))\nexcept OSError: pass`,
        ),
      ),
    )
    expect(lookedUp().filter((name) => name !== GRANTED)).toEqual([])
  })

  test('cannot be reached on another port, or by an ungranted address', async () => {
    const before = repeater.connections()
    const { result, stdout } = await run(
      python(
        `for at in (("${GRANTED}", ${String(repeater.port)}), ("192.0.2.7", 443), ("198.18.9.9", ` +
          `${String(web.port)}), ("127.0.0.1", ${String(repeater.port)})):`,
        '  try: s = socket.create_connection(at, 5); s.sendall(b"x"); print("REACHED", s.recv(9))\n  except ' +
          'OSError as e: print(errno.errorcode.get(e.errno, e))',
      ),
      [WEB_GRANT],
    )
    expect(stdout).not.toContain('REACHED')
    expect(repeater.connections()).toBe(before)
    expect(result.violations).toContainEqual({ kind: 'connect', family: 'host', name: GRANTED, port: repeater.port })
    expect(result.violations).toContainEqual({ kind: 'connect', family: 'inet', address: '192.0.2.7', port: 443 })
  })

  test('cannot be reached under another host name in the request or in TLS', async () => {
    const fronted = await run(['curl', '-sS', '--noproxy', '*', '-H', `Host: ${OTHER}`, `${URL}/`])
    expect(fronted.stdout).not.toContain(`"host":"${OTHER}"`)
    const resolved = await run(
      python(
        `address = socket.getaddrinfo("${GRANTED}", ${String(web.port)})[0][4][:2]`,
        'context = ssl.create_default_context(); context.check_hostname = False; context.verify_mode = ssl.CERT_NONE',
        `try: s = context.wrap_socket(socket.create_connection(address), server_hostname="${OTHER}"); ` +
          `s.sendall(b"GET / HTTP/1.1\\r\\nHost: ${OTHER}\\r\\n\\r\\n"); print("ANSWER", s.recv(99))\nexcept ` +
          'OSError as e: print("refused")',
      ),
    )
    expect(resolved.stdout).not.toContain('200 OK')
    for (const { result } of [fronted, resolved])
      expect(result.violations).toContainEqual(expect.objectContaining({ kind: 'egress', host: GRANTED }))
  })

  test('cannot be widened through the proxy, with or without its secret', async () => {
    const before = repeater.connections()
    const { stdout } = await run(
      python(
        'import urllib.parse; proxy = urllib.parse.urlparse(os.environ["HTTP_PROXY"])',
        'def say(text):\n  s = socket.create_connection((proxy.hostname, proxy.port)); s.sendall(text); ' +
          's.settimeout(5)\n  try: return s.recv(200)\n  except OSError: return b""',
        `print(say(b"CONNECT ${OTHER}:${String(repeater.port)} HTTP/1.1\\r\\nHost: ` +
          `${OTHER}:${String(repeater.port)}\\r\\n\\r\\n"))`,
        `print(say(b"CONNECT ${OTHER}:${String(repeater.port)} HTTP/1.1\\r\\nHost: ` +
          `${OTHER}:${String(repeater.port)}\\r\\nProxy-Authorization: Basic ` +
          `Y29yZG9uOm5vdC10aGUtc2VjcmV0\\r\\n\\r\\n"))`,
        `import base64; own = base64.b64encode(("cordon:" + proxy.password).encode())`,
        `print(say(b"CONNECT ${OTHER}:${String(repeater.port)} HTTP/1.1\\r\\nHost: ` +
          `${OTHER}:${String(repeater.port)}\\r\\nProxy-Authorization: Basic " + own + b"\\r\\n\\r\\n"))`,
      ),
    )
    expect(stdout.split('\n').map((line) => /HTTP\/1.1 (\d+)/.exec(line)?.[1] ?? line)).toEqual([
      '407',
      '407',
      '403',
      '',
    ])
    expect(repeater.connections()).toBe(before)
  })

  test('leave the rest of the network closed', async () => {
    const { outside } = playground()
    const host = await startListeners(outside)
    const argv = [...programs.command('sockets'), String(host.tcp), String(host.udp)]
    const { result, stdout, stderr } = await run(argv)
    expect(await host.arrivals()).toEqual(NO_ARRIVALS)
    expectHeld(
      { kind: 'ran', result, stdout, stderr, routes: parseRoutes(stdout) },
      cell.form === 'namespaces'
        ? { 'udp': 'a datagram to nobody', 'udp-sendmmsg': 'the same', 'udp6': 'the same', 'udp-connect': 'the same' }
        : {},
    )
  })

  test('are reached while many connections wait, and a tool that opens too many harms nobody else', async () => {
    const { stdout } = await run(
      python(
        'import urllib.parse, resource; proxy = urllib.parse.urlparse(os.environ["HTTP_PROXY"])',
        'soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE); resource.setrlimit(resource.RLIMIT_NOFILE, ' +
          '(min(hard, 4096), hard))',
        `held = [socket.create_connection(("${GRANTED}", ${String(repeater.port)})) for i in range(400)]`,
        'for i, s in enumerate(held): s.sendall(b"%d\\n" % i)',
        'print(sum(s.makefile().readline() == "%d\\n" % i for i, s in enumerate(held)))',
        'silent = [socket.create_connection((proxy.hostname, proxy.port)) for i in range(100)]',
        `s = socket.create_connection(("${GRANTED}", ${String(repeater.port)})); s.sendall(b"still\\n"); ` +
          'print(s.recv(9).decode(), end="")',
      ),
      [REPEATER_GRANT],
    )
    expect(stdout).toBe('400\nstill\n')
  })

  test('do not stall other threads of a tool that waits for a connection', async () => {
    const { stdout } = await run(
      python(
        'listener = socket.socket(socket.AF_UNIX); path = os.environ["TMPDIR"] + "/full"; ' +
          'listener.bind(path); listener.listen(0)',
        'def wait():\n  for i in range(3): socket.socket(socket.AF_UNIX).connect(path)',
        'threading.Thread(target=wait, daemon=True).start(); import time; time.sleep(0.2)',
        `s = socket.create_connection(("${GRANTED}", ${String(repeater.port)})); s.sendall(b"on\\n"); ` +
          'print(s.recv(9).decode(), end="", flush=True); os._exit(0)',
      ),
      [REPEATER_GRANT],
    )
    expect(stdout).toBe('on\n')
  })

  test('are reached with a small private folder too', async () => {
    const { stdout } = await run(CLIENTS['curl'] ?? [], [WEB_GRANT], { limits: { scratch: '512K' } })
    expect(stdout).toContain('/curl')
  })

  test('are recorded: every connection and every request', async () => {
    await run(['curl', '-sS', '--noproxy', '*', `${URL}/told?secret=1`])
    expect(recorded()).toContainEqual(
      expect.objectContaining({ type: 'egress.request', host: GRANTED, method: 'GET', path: '/told', status: 200 }),
    )
  })

  test('can be read through a policy that grants all of /etc, whose files are links', async () => {
    const { stdout } = await run(CLIENTS['curl'] ?? [], [WEB_GRANT], { filesystem: { read: ['/etc'] } })
    expect(stdout).toContain('/curl')
  })
})
