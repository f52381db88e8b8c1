// Local servers that act as hosts of the internet, for `cordon run --resolve HOST=…`.
import { readFileSync, writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'

import { contextOf, serverAuthority } from '../egress/servers.js'

export interface Arrival {
  readonly host: string
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage['headers']
  /** The name in the certificate of the client. */
  readonly client: string | undefined
}

export interface PretendedHosts {
  readonly address: string
  readonly port: number
  readonly arrivals: readonly Arrival[]
  readonly authorityFile: string
  readonly close: () => Promise<void>
}

interface Own {
  readonly key: string
  readonly cert: string
}

/** An address of the loopback that nobody else listens at. */
const ADDRESS = '127.0.0.77'

/** An empty repository, as the smart protocol of git tells of one. */
const advertisement = (): string => {
  const line = `${'0'.repeat(40)} capabilities^{}\0agent=test\n`
  return `001e# service=git-upload-pack\n0000${(line.length + 4).toString(16).padStart(4, '0')}${line}0000`
}

/** On port 443 where this user may listen there; otherwise on any, and policies have to say so. */
export const pretendHosts = async (
  folder: string,
  options: { readonly port?: number; readonly address?: string; readonly own?: Own } = {},
): Promise<PretendedHosts> => {
  const arrivals: Arrival[] = []
  const server = createServer(
    {
      ...options.own,
      requestCert: true,
      rejectUnauthorized: false,
      ...(options.own === undefined
        ? {
            SNICallback: (name: string, answer: (error: null, context: ReturnType<typeof contextOf>) => void) => {
              answer(null, contextOf(name))
            },
          }
        : {}),
    },
    (request, response) => {
      const { method = '', url = '', headers } = request
      const subject = (request.socket as TLSSocket).getPeerX509Certificate()?.subject
      arrivals.push({ host: headers.host ?? '', method, url, headers, client: subject?.replace('CN=', '') })
      request.resume()
      if (url.includes('/info/refs')) {
        response.writeHead(200, { 'content-type': 'application/x-git-upload-pack-advertisement' })
        response.end(advertisement())
        return
      }
      // What a careless server does: everything that it was told comes back.
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ url, headers }))
    },
  )
  const address = options.address ?? ADDRESS
  const listen = (port: number): Promise<boolean> =>
    new Promise((resolve) => {
      server.once('error', () => {
        resolve(false)
      })
      server.listen(port, address, () => {
        resolve(true)
      })
    })
  if (!(await listen(options.port ?? 443)) && !(await listen(0))) throw new Error(`nobody can listen at ${address}`)
  const authorityFile = join(folder, 'authority.pem')
  writeFileSync(authorityFile, options.own?.cert ?? serverAuthority.certificate)
  return {
    address,
    port: (server.address() as AddressInfo).port,
    arrivals,
    authorityFile,
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve()
        })
        server.closeAllConnections()
      }),
  }
}

const POLICIES = new URL('../../policies/', import.meta.url)

export const bundledText = (name: string): string => readFileSync(new URL(`${name}.yaml`, POLICIES), 'utf8')

/** The words that name a bundled policy, or a copy of it with another port where port 443 cannot be had. */
export const policyWords = (
  name: string,
  hosts: readonly string[],
  port: number,
  folder: string,
): readonly string[] => {
  if (port === 443) return ['--policy', name]
  const [policy = ''] = bundledText(name).split('\nexamples:')
  const path = join(folder, `${name}.yaml`)
  writeFileSync(
    path,
    hosts.reduce(
      (text, host) =>
        text.replaceAll(
          new RegExp(`(?<![\\w.-])${host.replaceAll('.', '\\.')}(?![\\w.:-])`, 'g'),
          `"${host}:${String(port)}"`,
        ),
      policy,
    ),
  )
  return ['--policy', path]
}
