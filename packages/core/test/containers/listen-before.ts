import { connect, createServer } from 'node:net'
import { join } from 'node:path'

import { onTestFinished } from 'vitest'

/** A way to an engine on which a test can act before a request, or before the plan of a cell, arrives there. */
export const listenBefore = async (
  engine: string,
  folder: string,
  onRequest: (line: string) => void,
  onFrame: () => void = () => undefined,
): Promise<string> => {
  const path = join(folder, 'engine.sock')
  const listener = createServer({ allowHalfOpen: true }, (client) => {
    const server = connect({ path: engine, allowHalfOpen: true })
    client.on('data', (bytes: Buffer) => {
      const [line = ''] = bytes.toString('latin1').split('\r\n')
      if (line.endsWith(' HTTP/1.1')) onRequest(line)
      else onFrame()
    })
    client.pipe(server)
    server.pipe(client)
    client.on('error', () => server.destroy())
    server.on('error', () => client.destroy())
  })
  await new Promise<void>((resolve) => listener.listen(path, resolve))
  onTestFinished(() => {
    listener.close()
  })
  return path
}
