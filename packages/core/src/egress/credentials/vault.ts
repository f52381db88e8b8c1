import { request as requestPlain } from 'node:http'
import { request as requestTls } from 'node:https'
import { rootCertificates } from 'node:tls'

import { codeOf } from '../../errors/index.js'

import type { Missing, ReadSecret, SecretSource } from './secret-source.js'

export interface VaultAccess {
  /** Such as https://vault.example.org:8200 */
  readonly address: string
  readonly token: string
  readonly namespace?: string
  /** More authorities, in PEM. */
  readonly authorities?: readonly string[]
}

const TIMEOUT = 15_000
const MAX_BYTES = 1 << 20

/** The current version of a secret of KV version 2. */
export const readVault = async (
  source: Extract<SecretSource, { kind: 'vault' }>,
  access: VaultAccess,
  missing: Missing,
): Promise<ReadSecret> => {
  const path = source.path.split('/').map(encodeURIComponent).join('/')
  const place = `${source.mount}/${source.path}`
  const answer = await get(
    `${access.address.replace(/(?<!\/)\/+$/, '')}/v1/${encodeURIComponent(source.mount)}/data/${path}`,
    access,
  ).catch((error: unknown) => {
    throw missing(
      `Vault at ${access.address} cannot be reached (${codeOf(error) ?? 'no answer'})`,
      'see whether VAULT_ADDR is right and Vault is running',
    )
  })
  if (answer.status === 404)
    throw missing(`Vault has no secret ${place}`, `write it: vault kv put ${place} ${source.field}=…`)
  if (answer.status === 403)
    throw missing(
      `Vault does not let us read ${place}`,
      'see whether VAULT_TOKEN is valid, and what its policy permits',
    )
  if (answer.status !== 200) throw missing(`Vault answered ${answer.status} for ${place}`, 'see the log of Vault')
  const value = fieldOf(answer.body, source.field)
  if (value === undefined)
    throw missing(
      `${place} in Vault has no field ${source.field}`,
      `write it: vault kv patch ${place} ${source.field}=…`,
    )
  return value
}

const fieldOf = (body: string, field: string): ReadSecret | undefined => {
  try {
    const { data } = JSON.parse(body) as {
      readonly data?: {
        readonly data?: Readonly<Record<string, unknown>>
        readonly metadata?: { readonly deletion_time?: unknown }
      }
    }
    const text = data?.data?.[field]
    const deleted = data?.metadata?.deletion_time
    const until = typeof deleted === 'string' ? Date.parse(deleted) : NaN
    return typeof text === 'string'
      ? { bytes: Buffer.from(text, 'utf8'), expiresAt: Number.isNaN(until) ? undefined : until }
      : undefined
  } catch {
    return undefined
  }
}

const get = (
  url: string,
  { token, namespace, authorities }: VaultAccess,
): Promise<{ readonly status: number; readonly body: string }> =>
  new Promise((resolve, reject) => {
    const begin = url.startsWith('https:') ? requestTls : requestPlain
    const request = begin(url, {
      headers: {
        'X-Vault-Token': token,
        'X-Vault-Request': 'true',
        ...(namespace === undefined ? {} : { 'X-Vault-Namespace': namespace }),
      },
      timeout: TIMEOUT,
      agent: false,
      ...(authorities === undefined ? {} : { ca: [...rootCertificates, ...authorities] }),
    })
    request.on('timeout', () => request.destroy(new Error('timeout')))
    request.on('error', reject)
    request.on('response', (response) => {
      const pieces: Buffer[] = []
      let length = 0
      response.on('data', (chunk: Buffer) => {
        length += chunk.length
        if (length > MAX_BYTES) request.destroy(new Error('too long'))
        else pieces.push(chunk)
      })
      response.on('error', reject)
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, body: Buffer.concat(pieces).toString('utf8') })
      })
    })
    request.end()
  })
