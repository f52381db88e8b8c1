// A tool with granted hosts cannot exhaust the time or memory of the process that serves it.
import { afterAll, expect, test } from 'vitest'

import { startHttp } from '../egress/servers.js'

import { GRANTED, python, runGranted } from './granted-hosts.js'
import { describeForms } from './harness.js'

const LARGE = 64 << 20

/** Answers with far more than any buffer on the way takes. */
const plain = await startHttp((request, response) => {
  if (request.url !== '/large') {
    response.end('well')
    return
  }
  const chunk = Buffer.alloc(1 << 16)
  let sent = 0
  const go = (): void => {
    while (sent < LARGE && !response.destroyed) {
      sent += chunk.length
      if (!response.write(chunk)) {
        response.once('drain', go)
        return
      }
    }
    response.end()
  }
  go()
})
afterAll(() => plain.close())

const GRANT = [`${GRANTED}:${String(plain.port)}`]
const AT = `("${GRANTED}", ${String(plain.port)})`
const request = (path: string): string => `b"GET ${path} HTTP/1.1\\r\\nHost: ${GRANT[0] ?? ''}\\r\\n\\r\\n"`

describeForms('a tool with granted hosts', (cell) => {
  test('cannot block other calls by not reading an answer, and a slow reader gets all of it', async () => {
    const order: string[] = []
    const stop = new AbortController()
    let wake: () => void = () => undefined
    const asked = new Promise<void>((resolve) => {
      wake = resolve
    })
    const stalled = runGranted(
      cell,
      GRANT,
      python(
        `s = socket.create_connection(${AT}); s.sendall(${request('/large')}); s.recv(1)`,
        'print("asked", flush=True)',
        'time.sleep(600)',
      ),
      {
        onStdout: () => {
          wake()
        },
        signal: stop.signal,
      },
    )
      .catch(() => undefined)
      .then(() => order.push('stalled'))
    await asked
    const honest = await runGranted(
      cell,
      GRANT,
      python(`s = socket.create_connection(${AT}); s.sendall(${request('/')}); print(s.recv(15))`),
    )
    order.push('honest')
    expect(honest.stdout).toBe("b'HTTP/1.1 200 OK'\n")
    stop.abort()
    await stalled
    expect(order).toEqual(['honest', 'stalled'])
    const slow = await runGranted(
      cell,
      GRANT,
      python(
        `s = socket.create_connection(${AT}); s.sendall(${request('/large')})`,
        'time.sleep(0.3); got = 0',
        `while got < ${String(LARGE)}: got += len(s.recv(1 << 20))`,
        'print("all of it")',
      ),
    )
    expect(slow.stdout).toBe('all of it\n')
  })
})
