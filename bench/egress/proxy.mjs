// The proxy with one call and one credential, in a process of its own, so that its memory can be watched.
import { createServer } from 'node:net'

import { createEgress, createSecretStore } from 'cordon/egress'
import { ROOT_PATH, parseDestination, parseIpAddress, parsePolicy, resolvePolicy } from 'cordon/policy'

process.once('message', async ({ port, certificate, withCredential }) => {
  const secrets = createSecretStore({
    sources: new Map([['token', { kind: 'environment', name: 'TOKEN' }]]),
    host: {
      environment: { TOKEN: 'value-of-the-token-of-the-bench' },
      run: () => Promise.resolve({ kind: 'failed', problem: '' }),
      platform: process.platform,
      vault: undefined,
    },
  })
  const egress = createEgress({
    secrets,
    record: () => undefined,
    authorities: [certificate],
    connections: { perCall: 1024, perRuntime: 1024, always: 0 },
    exchanges: { perCall: 1024, perRuntime: 1024, always: 0 },
  })
  const boundary = resolvePolicy(parsePolicy({ network: [`api.test:${port}`] }, 'bench'), {
    workspace: ROOT_PATH,
    home: ROOT_PATH,
    kind: 'process',
  })
  const loopback = parseIpAddress('127.0.0.1')
  if (loopback === undefined) throw new Error('no address')
  /** @type {import('cordon/policy').Credential} */
  const credential = {
    id: 'token',
    hosts: [parseDestination(`api.test:${port}`, 'bench')],
    inject: { kind: 'header', name: 'Authorization', format: 'Bearer {value}' },
    scope: boundary,
    placeholder: undefined,
  }
  const call = await egress.admit({
    callId: 'bench',
    network: boundary,
    writeApproval: 'recorded',
    credentials: withCredential ? [credential] : [],
    pins: new Map([['api.test', [loopback]]]),
  })
  /** @param {(socket: import('node:net').Socket) => void} serve @returns {Promise<number>} */
  const listen = (serve) =>
    new Promise((resolve) => {
      const server = createServer({ allowHalfOpen: true }, serve)
      server.listen(0, '127.0.0.1', 4096, () =>
        resolve(/** @type {import('node:net').AddressInfo} */ (server.address()).port),
      )
    })
  const brought = await listen((socket) => call.accept(socket, 'api.test', port))
  const proxied = await listen((socket) => call.acceptProxyClient(socket))
  process.send?.({
    port: brought,
    proxyPort: proxied,
    authorization: `Bearer ${call.proxySecret}`,
    certificate: egress.authorityCertificate,
  })
  let peak = 0
  setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss())
  }, 20).unref()
  process.on('message', () => {
    process.send?.({ rss: process.memoryUsage.rss(), peak, cpu: process.cpuUsage() })
    peak = 0
  })
})
