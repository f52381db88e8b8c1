// sandbox-runtime's proxy, terminating and with a header put in, in a process of its own. argv: the folder of the
// package.
import path from 'node:path'

const folder = String(process.argv[2])
const { createHttpProxyServer } = await import(path.join(folder, 'dist/sandbox/http-proxy.js'))
const { createMitmCA } = await import(path.join(folder, 'dist/sandbox/mitm-ca.js'))

process.once('message', (/** @type {{ certificate: string }} */ { certificate }) => {
  const mitmCA = createMitmCA({})
  const server = createHttpProxyServer({
    filter: () => true,
    mitmCA,
    mutateHeaders: (/** @type {Record<string, string>} */ headers) => {
      headers['authorization'] = 'Bearer value-of-the-token-of-the-bench'
    },
    tlsTerminateUpstreamCA: certificate,
    lookupFor:
      () =>
      (
        /** @type {string} */ _name,
        /** @type {{ all?: boolean }} */ { all },
        /** @type {(...answer: unknown[]) => void} */ answer,
      ) => {
        if (all) answer(null, [{ address: '127.0.0.1', family: 4 }])
        else answer(null, '127.0.0.1', 4)
      },
  })
  server.listen(0, '127.0.0.1', () => process.send?.({ port: server.address().port, certificate: mitmCA.certPem }))
})
