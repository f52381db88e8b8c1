import { createHash, randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { connect } from 'node:http2'
import { connect as connectTcp } from 'node:net'
import { join } from 'node:path'
import { createServer as createTlsServer } from 'node:tls'

import { afterEach, describe, expect, test } from 'vitest'

import { needs } from '../../../../test/requirement.js'

import { IN_MATRIX } from '../../../../test/turns.js'
import { curl, curlThere, has, run } from './programs.js'
import { openTls, say } from './raw.js'
import { contextOf, echo, startHttp, startHttps, startTcp } from './servers.js'
import type { Handle, HttpsOptions, TestServer } from './servers.js'
import { bearer, openStage } from './stage.js'
import type { Stage, StageOptions } from './stage.js'

let stage: Stage
let server: TestServer
afterEach(async () => {
  await stage.close()
  await server.close()
})

const set = async (handle: Handle, options: Partial<StageOptions> = {}, https: HttpsOptions = {}): Promise<string> => {
  server = await startHttps(handle, https)
  stage = await openStage({ network: [`api.test:${server.port}`], here: ['api.test'], ...options })
  return `https://api.test:${server.port}`
}
const sha = (bytes: Buffer | string): string => createHash('sha256').update(bytes).digest('hex')

describe.each(['--http1.1', '--http2'])('with %s', (version) => {
  test('a large body comes down unchanged', async () => {
    const body = randomBytes(12_000_000)
    const url = await set((_, response) => response.end(body))
    const { output } = await curl(stage, version, url)
    expect(sha(Buffer.from(output, 'latin1'))).toBe(sha(body))
    expect(stage.events).toContainEqual(
      expect.objectContaining({ type: 'egress.request', bytes_received: body.length }),
    )
  })

  test.each([
    ['with its length', []],
    ['without it', ['-H', 'Transfer-Encoding: chunked']],
    ['after a question', ['-H', 'Expect: 100-continue']],
  ])('a large body goes up unchanged, %s', async (_, args) => {
    const body = randomBytes(5_000_000)
    const url = await set((request, response) => {
      const hash = createHash('sha256')
      request.on('data', (chunk: Buffer) => hash.update(chunk))
      request.on('end', () => response.end(hash.digest('hex')))
    })
    const file = join(stage.folder, 'body')
    writeFileSync(file, body)
    expect((await curl(stage, version, ...args, '-T', file, url)).output).toBe(sha(body))
  })

  test('a refused upload gets its answer', async () => {
    const url = await set(echo, { egressClass: 'read_only' })
    const file = join(stage.folder, 'body')
    writeFileSync(file, randomBytes(3_000_000))
    expect(
      (await curl(stage, version, '-H', 'Expect:', '-o', '/dev/null', '-w', '%{http_code}', '-T', file, url)).output,
    ).toBe('403')
  })

  test('HEAD, 204, 304 and an empty body', async () => {
    const url = await set((request, response) => {
      if (request.method === 'HEAD') response.writeHead(200, { 'content-length': '1234' })
      else response.writeHead(Number(request.url?.slice(1)))
      response.end()
    })
    expect((await curl(stage, version, '-I', `${url}/`)).output.toLowerCase()).toContain('content-length: 1234')
    for (const status of ['200', '204', '304'])
      expect((await curl(stage, version, '-w', '%{http_code}', `${url}/${status}`)).output).toBe(status)
  })

  test('a server that breaks off in the middle does not count as one that finished', async () => {
    const url = await set((_, response) => {
      response.writeHead(200, { 'content-length': '1000' })
      response.write('half')
      setTimeout(() => response.destroy(), 50)
    })
    expect((await curl(stage, version, url)).status).not.toBe(0)
  })
})

for (const [protocol, kind, tried] of [
  ['http/1.1', 'plain', IN_MATRIX],
  ['http/1.1', 'with a credential', {}],
  ['h2', 'plain', {}],
  ['h2', 'with a credential', IN_MATRIX],
] as const)
  test(
    `a slow reader makes the server wait, and a slow server the sender, with ${protocol}, ${kind}`,
    tried,
    async () => {
      let sent = 0
      let read = 0
      await set((request, response) => {
        const chunk = Buffer.alloc(65_536)
        const go = (): void => {
          for (let isWelcome = true; isWelcome && sent < 400_000_000; sent += chunk.length)
            isWelcome = response.write(chunk)
          response.once('drain', go)
        }
        if (request.method === 'GET') go()
        else
          request.once('data', (first: Buffer) => {
            read += first.length
            request.pause()
          })
      })
      if (kind !== 'plain') {
        await stage.close()
        stage = await openStage({
          network: [`api.test:${server.port}`],
          here: ['api.test'],
          credentials: [bearer('token', `api.test:${server.port}`)],
          secrets: { token: 'value-of-token' },
        })
      }
      const stopped = async (count: () => number): Promise<number> => {
        for (let before = -1; before !== count();) {
          before = count()
          await new Promise((resolve) => setTimeout(resolve, 700))
        }
        return count()
      }
      const down = await openTls(stage, { host: 'api.test', port: server.port, protocols: [protocol] })
      const up = await openTls(stage, { host: 'api.test', port: server.port, protocols: [protocol] })
      let written = 0
      if (protocol === 'h2') {
        connect(`https://api.test:${server.port}`, { createConnection: () => down })
          .request({ ':path': '/' })
          .on('error', () => undefined)
          .pause()
        const stream = connect(`https://api.test:${server.port}`, { createConnection: () => up })
          .request({ ':path': '/', ':method': 'POST' })
          .on('error', () => undefined)
        const go = (): void => {
          for (let isWelcome = true; isWelcome && written < 400_000_000; written += 65_536)
            isWelcome = stream.write(Buffer.alloc(65_536))
          stream.once('drain', go)
        }
        go()
      } else {
        down.pause()
        down.write(`GET / HTTP/1.1\r\nHost: api.test:${server.port}\r\n\r\n`)
        up.write(`POST / HTTP/1.1\r\nHost: api.test:${server.port}\r\nContent-Length: 400000000\r\n\r\n`)
        const go = (): void => {
          for (let isWelcome = true; isWelcome && written < 400_000_000; written += 65_536)
            isWelcome = up.write(Buffer.alloc(65_536))
          up.once('drain', go)
        }
        go()
      }
      for (const count of await Promise.all([stopped(() => sent), stopped(() => written)]))
        expect(count).toBeLessThan(60_000_000)
      expect(sent).toBeGreaterThan(0)
      expect(read).toBeGreaterThan(0)
      down.destroy()
      up.destroy()
    },
  )

describe('connections to a server', () => {
  test('are reused by the same call', async () => {
    const url = await set(echo)
    for (let count = 0; count < 4; count++) await curl(stage, '--http1.1', url)
    expect(server.connections()).toBe(1)
    for (let count = 0; count < 4; count++) await curl(stage, '--http2', url)
    expect(server.connections()).toBe(2)
  })

  test('are never shared with another call', async () => {
    const url = await set(echo)
    await curl(stage, '--http1.1', url)
    const { rightsOf } = await import('./stage.js')
    const options = { network: [`api.test:${server.port}`], here: ['api.test'] }
    for (const callId of ['second', 'third']) {
      const call = await stage.egress.admit({ ...rightsOf(options), callId })
      const port = await stage.listen((socket) => {
        call.acceptProxyClient(socket)
      })
      expect(
        (await curl({ ...stage, proxyUrl: `http://cordon:${call.proxySecret}@127.0.0.1:${port}` }, '--http1.1', url))
          .status,
      ).toBe(0)
      await call.end()
    }
    expect(server.connections()).toBe(3)
  })

  test('are replaced if the server closed them', async () => {
    const url = await set((request, response) => {
      response.end('ok')
      if (request.url === '/close') setTimeout(() => request.socket.destroy(), 30)
    })
    await curl(stage, '--http1.1', `${url}/close`)
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect((await curl(stage, '--http1.1', '-d', 'x', url)).output).toBe('ok')
  })

  test('are closed when the call ends, and nothing passes afterwards', async () => {
    const url = await set((_, response) => {
      response.writeHead(200)
      response.write('begun')
    })
    const running = curl(stage, url)
    await expect.poll(() => server.connections()).toBe(1)
    await new Promise((resolve) => setTimeout(resolve, 200))
    await stage.call.end()
    expect((await running).status).not.toBe(0)
    expect((await curl(stage, url)).status).not.toBe(0)
    expect(server.connections()).toBe(1)
    expect(stage.call.mayConnect('api.test', server.port)).toMatchObject({ reason: 'not-granted' })
  })
})

describe('many at once:', () => {
  test('200 requests of one HTTP/2 connection', async () => {
    const url = await set(echo)
    const socket = await openTls(stage, { host: 'api.test', port: server.port, protocols: ['h2'] })
    const session = connect(url, { createConnection: () => socket })
    const answers = await Promise.all(
      Array.from(
        { length: 200 },
        (_, at) =>
          new Promise<string>((resolve, reject) => {
            const stream = session.request({ ':path': `/${at}` })
            let text = ''
            stream.on('data', (chunk: Buffer) => {
              text += chunk.toString()
            })
            stream.on('end', () => {
              resolve((JSON.parse(text) as { url: string }).url)
            })
            stream.on('error', reject)
          }),
      ),
    )
    expect(answers).toEqual(Array.from({ length: 200 }, (_, at) => `/${at}`))
    expect(server.connections()).toBe(1)
    session.destroy()
  })

  test('300 connections, each with its own answer, within the limit of the call', IN_MATRIX, async () => {
    server = await startTcp((socket) => {
      socket.on('data', (chunk: Buffer) => socket.write(chunk))
      socket.on('end', () => socket.end())
    })
    stage = await openStage({
      network: [`api.test:${server.port}`],
      here: ['api.test'],
      limits: { connections: { perCall: 300, perRuntime: 300, always: 0 } },
    })
    const port = await stage.portTo('api.test', server.port)
    const sockets = Array.from({ length: 300 }, () => connectTcp(port, '127.0.0.1'))
    const answers = await Promise.all(
      sockets.map(
        (socket, at) =>
          new Promise<string>((resolve) => {
            socket.write(`\0${at}`)
            socket.once('data', (chunk: Buffer) => {
              resolve(chunk.toString())
            })
          }),
      ),
    )
    expect(answers).toEqual(sockets.map((_, at) => `\0${at}`))
    expect(stage.call.mayConnect('api.test', server.port)).toMatchObject({ reason: 'too-many' })
    for (const socket of sockets) socket.destroy()
    await expect.poll(() => stage.call.mayConnect('api.test', server.port)).toBeUndefined()
  })
})

describe('real programs reach a granted host and no other:', () => {
  const trust = (): Record<string, string> => ({
    SSL_CERT_FILE: stage.authorityFile,
    NODE_EXTRA_CA_CERTS: stage.authorityFile,
    REQUESTS_CA_BUNDLE: stage.authorityFile,
    https_proxy: stage.proxyUrl,
    http_proxy: stage.proxyUrl,
  })

  test('Python', IN_MATRIX, async (context) => {
    needs(context, has('python3'), 'python3 is not installed')
    const url = await set(echo)
    const script = 'import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1], timeout=20).read().decode())'
    expect((await run('python3', ['-c', script, `${url}/p`], { env: trust() })).output).toContain('"url":"/p"')
    expect(
      (await run('python3', ['-c', script, `https://other.test:${server.port}/`], { env: trust() })).errors,
    ).toContain('403')
  })

  test('wget', IN_MATRIX, async (context) => {
    needs(context, has('wget'), 'wget is not installed')
    const url = await set(echo)
    expect(
      (await run('wget', ['-qO-', '--ca-certificate', stage.authorityFile, `${url}/w`], { env: trust() })).output,
    ).toContain('"url":"/w"')
    expect(
      (
        await run('wget', ['-qO-', '--ca-certificate', stage.authorityFile, `https://other.test:${server.port}/`], {
          env: trust(),
        })
      ).status,
    ).not.toBe(0)
  })

  test('https of Node without proxy settings, on the connection of a broker', async () => {
    await set(echo)
    const port = await stage.portTo('api.test', server.port)
    // The name leads to the port, as the broker does it in a cell.
    const script = `
      import https from 'node:https'
      https.get({ host: '127.0.0.1', port: ${port}, servername: 'api.test', path: '/n', headers: { host: 'api.test:${server.port}' } }, (r) => r.pipe(process.stdout))`
    expect((await run(process.execPath, ['--input-type=module', '-e', script], { env: trust() })).output).toContain(
      '"url":"/n"',
    )
  })

  test('openssl s_client', IN_MATRIX, async (context) => {
    needs(context, has('openssl'), 'openssl is not installed')
    await set(echo)
    const port = await stage.portTo('api.test', server.port)
    const ask = (name: string) =>
      run(
        'openssl',
        [
          's_client',
          '-quiet',
          '-no_ign_eof',
          '-connect',
          `127.0.0.1:${port}`,
          '-servername',
          name,
          '-CAfile',
          stage.authorityFile,
          '-verify_return_error',
          '-verify_hostname',
          name,
        ],
        { input: `GET /o HTTP/1.0\r\nHost: ${name}:${server.port}\r\n\r\n` },
      )
    expect((await ask('api.test')).errors).toContain('verify return:1')
    expect((await ask('other.test')).errors).toMatch(/unexpected eof|reset|errno/i)
  })

  test('git over https', IN_MATRIX, async (context) => {
    needs(context, has('git'), 'git is not installed')
    const url = await set(
      (request, response) => {
        response.writeHead(200, { 'content-type': 'application/x-git-upload-pack-advertisement' })
        const line = '# service=git-upload-pack\n'
        const head = `${'1'.repeat(40)} HEAD\0\n`
        const packet = (text: string) => (text.length + 4).toString(16).padStart(4, '0') + text
        response.end(
          request.headers['authorization'] === 'Bearer value-of-token'
            ? `${packet(line)}0000${packet(head)}0000`
            : 'who?',
        )
      },
      { credentials: [bearer('token', 'api.test')], secrets: { token: 'value-of-token' } },
    )
    await stage.close()
    stage = await openStage({
      network: [`api.test:${server.port}`],
      here: ['api.test'],
      credentials: [bearer('token', `api.test:${server.port}`)],
      secrets: { token: 'value-of-token' },
    })
    const { output, errors } = await run(
      'git',
      [
        '-c',
        `http.sslCAInfo=${stage.authorityFile}`,
        '-c',
        `http.proxy=${stage.proxyUrl}`,
        '-c',
        'protocol.version=0',
        'ls-remote',
        `${url}/x.git`,
      ],
      { env: { GIT_TERMINAL_PROMPT: '0' } },
    )
    expect(errors).toBe('')
    expect(output).toContain(`${'1'.repeat(40)}\tHEAD`)
  })

  test('curl without a proxy, on the connection of a broker, in every version of HTTP', async () => {
    const url = await set(echo)
    for (const version of ['--http1.0', '--http1.1', '--http2'])
      expect((await curlThere(stage, 'api.test', server.port, version, `${url}/c`)).output, version).toContain(
        '"url":"/c"',
      )
  })

  test('curl with HTTP/2 without TLS', async () => {
    server = await startHttp(echo)
    const { createServer } = await import('node:http2')
    const plain = createServer((_, response) => response.end('h2c'))
    const port = await new Promise<number>((resolve) =>
      plain.listen(0, '127.0.0.1', () => {
        resolve((plain.address() as { port: number }).port)
      }),
    )
    stage = await openStage({ network: [`api.test:${port}`], here: ['api.test'] })
    expect(
      (await curlThere(stage, 'api.test', port, '--http2-prior-knowledge', `http://api.test:${port}/`)).output,
    ).toBe('h2c')
    stage.egress.close()
    plain.close()
  })
})

describe('an answer that HTTP/2 cannot express ends only its own stream:', () => {
  const BODY = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n'
  const ANSWERS: Readonly<Record<string, string>> = {
    '/well': `${BODY}\r\n`,
    '/connection': `${BODY}Connection: close\r\n\r\n`,
    '/twice': `${BODY}Content-Type: a\r\nContent-Type: b\r\n\r\n`,
    '/early': `HTTP/1.1 103 Early Hints\r\nContent-Type: a\r\nContent-Type: b\r\n\r\n${BODY}\r\n`,
    '/chatty': `${'HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n'.repeat(2000)}${BODY}\r\n`,
  }

  test.each(Object.keys(ANSWERS))('%s', async (path) => {
    const raw = createTlsServer(
      {
        SNICallback: (name, answer) => {
          answer(null, contextOf(name))
        },
      },
      (socket) => {
        socket.on('error', () => undefined)
        socket.once('data', (bytes: Buffer) =>
          socket.end(ANSWERS[/^GET (\S+)/.exec(bytes.toString())?.[1] ?? ''] ?? ''),
        )
      },
    )
    const port = await new Promise<number>((resolve) =>
      raw.listen(0, '127.0.0.1', () => {
        resolve((raw.address() as { port: number }).port)
      }),
    )
    server = await startHttp(echo)
    stage = await openStage({ network: [`api.test:${port}`], here: ['api.test'] })
    const get = async (at: string): Promise<string> =>
      (await curlThere(stage, 'api.test', port, '--http2', `https://api.test:${port}${at}`)).output
    await get(path)
    expect(await get('/well')).toBe('ok')
    raw.close()
  })
})

describe('the proxy', () => {
  test.each([
    ['nothing', ''],
    ['a wrong secret', 'Proxy-Authorization: Bearer wrong\r\n'],
    ['a user name only', `Proxy-Authorization: Basic ${Buffer.from('cordon:').toString('base64')}\r\n`],
    ['two secrets', 'Proxy-Authorization: Bearer SECRET\r\nProxy-Authorization: Bearer SECRET\r\n'],
  ])('refuses a client that shows %s', async (_, header) => {
    await set(echo)
    const shown = header.replaceAll('SECRET', stage.call.proxySecret)
    expect(
      await say(stage.proxyPort, `CONNECT api.test:${server.port} HTTP/1.1\r\nHost: api.test\r\n${shown}\r\n`, 500),
    ).toMatch(/^HTTP\/1\.1 407/)
    expect(
      await say(
        stage.proxyPort,
        `GET http://api.test:${server.port}/ HTTP/1.1\r\nHost: api.test:${server.port}\r\n${shown}\r\n`,
        500,
      ),
    ).toMatch(/^HTTP\/1\.1 407/)
    expect(server.connections()).toBe(0)
  })

  test('gives a call nothing for the secret of another', async () => {
    const url = await set(echo)
    const { rightsOf } = await import('./stage.js')
    const other = await stage.egress.admit({ ...rightsOf({ network: ['other.test'] }), callId: 'call-2' })
    const theirs = { ...stage, proxyUrl: stage.proxyUrl.replace(stage.call.proxySecret, other.proxySecret) }
    expect((await curl(theirs, url)).errors).toContain('407')
    expect(stage.violations()).toMatchObject([{ reason: 'malformed', because: 'its secret is not that of this call' }])
    expect((await curl(stage, url)).output).toContain('"method":"GET"')
  })
})
