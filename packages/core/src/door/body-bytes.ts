import type { IncomingMessage } from 'node:http'

import { fail } from '../errors/index.js'
import type { CordonError } from '../errors/index.js'

/** Without an async iterator: leaving it early would close the connection before the refusal is sent. */
export const bodyBytes = (request: IncomingMessage, mostBytes: number): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    const take = (chunk: Buffer): void => {
      size += chunk.byteLength
      if (size <= mostBytes) chunks.push(chunk)
      else refuse(fail('request-too-large', { limit: mostBytes }))
    }
    const refuse = (error: CordonError): void => {
      request.off('data', take)
      chunks.length = 0
      reject(error)
    }
    request.on('data', take)
    request.on('end', () => {
      resolve(Buffer.concat(chunks))
    })
    // The client went away, or took too long.
    for (const event of ['error', 'close'] as const)
      request.on(event, () => {
        refuse(fail('request-invalid', { problem: 'its body ended too early', fix: 'send it whole' }))
      })
  })
