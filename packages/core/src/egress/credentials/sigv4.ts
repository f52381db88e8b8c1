// AWS Signature Version 4, with the headers of the request that is really sent.
import { createHash, createHmac } from 'node:crypto'

import { fail } from '../../errors/index.js'
import type { Body } from '../http/body.js'
import { readWhole, wholeBody } from '../http/body.js'
import type { HeaderList } from '../http/header-list.js'
import { valueOf, withoutHeaders } from '../http/header-list.js'

import type { RequestDraft } from './draft.js'

export interface SigningTerms {
  readonly id: string
  readonly value: string
  readonly service: string | undefined
  readonly region: string | undefined
}

interface Keys {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken: string | undefined
}

/** A body without a hash is held in memory to compute it. */
const MAX_HASHED_BYTES = 16 << 20

/** `KEY_ID:SECRET`, `KEY_ID:SECRET:TOKEN`, or the JSON of `aws configure export-credentials` and assumed roles. */
export const readAwsKeys = (credential: string, value: string): Keys => {
  const unusable = (problem: string): Error =>
    fail('credential-unusable', {
      credential,
      problem,
      fix: 'let its source say KEY_ID:SECRET, KEY_ID:SECRET:TOKEN, or what `aws configure export-credentials` prints',
    })
  if (value.trimStart().startsWith('{')) {
    let parsed: Readonly<Record<string, unknown>>
    try {
      parsed = JSON.parse(value) as Readonly<Record<string, unknown>>
    } catch {
      // The cause would quote a part of the value.
      throw unusable('its value begins like JSON, and is none')
    }
    const field = (...names: readonly string[]): string | undefined =>
      names.map((name) => parsed[name]).find((found): found is string => typeof found === 'string')
    const [accessKeyId, secretAccessKey] = [
      field('AccessKeyId', 'access_key_id', 'aws_access_key_id'),
      field('SecretAccessKey', 'secret_access_key', 'aws_secret_access_key'),
    ]
    if (accessKeyId === undefined || secretAccessKey === undefined)
      throw unusable('its value lacks AccessKeyId or SecretAccessKey')
    if (/[\r\n]/.test(secretAccessKey)) throw unusable('its SecretAccessKey contains a line break')
    return { accessKeyId, secretAccessKey, sessionToken: field('SessionToken', 'session_token', 'aws_session_token') }
  }
  const [accessKeyId = '', secretAccessKey = '', ...token] = value.split(':')
  if (accessKeyId === '' || secretAccessKey === '')
    throw unusable('its value is neither KEY_ID:SECRET nor JSON with AccessKeyId and SecretAccessKey')
  if (/[\r\n]/.test(secretAccessKey)) throw unusable('its secret contains a line break')
  return { accessKeyId, secretAccessKey, sessionToken: token.length === 0 ? undefined : token.join(':') }
}

const SCOPE = /Credential=[^/,\s=]+\/\d{8}\/(?<region>[a-z0-9-]+)\/(?<service>[a-z0-9-]+)\/aws4_request/

/** `asked`: the tool's own request, whose signature names region and service. */
export const signRequest = async (
  draft: RequestDraft,
  terms: SigningTerms,
  asked: RequestDraft,
  now: Date,
): Promise<RequestDraft> => {
  const keys = readAwsKeys(terms.id, terms.value)
  const { region, service } = scopeOf(asked, terms)
  const { body, hash } = await payloadOf(draft, terms.id)
  const time = now.toISOString().replaceAll(/[-:]|\.\d+/g, '')
  const headers: HeaderList = [
    ...withoutHeaders(
      draft.headers,
      new Set(['authorization', 'x-amz-date', 'date', 'x-amz-content-sha256', 'x-amz-security-token']),
    ),
    ['X-Amz-Date', time],
    ...(service === 's3' || valueOf(draft.headers, 'x-amz-content-sha256') !== undefined
      ? [['X-Amz-Content-Sha256', hash] as const]
      : []),
    ...(keys.sessionToken === undefined ? [] : [['X-Amz-Security-Token', keys.sessionToken] as const]),
  ]
  const authorization = authorizationFor({ ...draft, headers, hash }, keys, { time, region, service })
  return { ...draft, body, headers: [...headers, ['Authorization', authorization]] }
}

const scopeOf = (
  draft: RequestDraft,
  { id, service, region }: SigningTerms,
): { readonly region: string; readonly service: string } => {
  const query = new URLSearchParams(draft.target.split('?')[1] ?? '')
  const made = SCOPE.exec(
    valueOf(draft.headers, 'authorization') ?? `Credential=${query.get('X-Amz-Credential') ?? ''}`,
  )?.groups
  const found = { region: region ?? made?.['region'], service: service ?? made?.['service'] }
  if (found.region === undefined || found.service === undefined) {
    throw fail('credential-unusable', {
      credential: id,
      problem: 'the request is not signed, so that region and service are not known',
      fix: 'give them in the policy: inject: { …, as: aws-sigv4, service: NAME, region: NAME }',
    })
  }
  return { region: found.region, service: found.service }
}

const NAMED_PAYLOAD = /^(?:[0-9a-f]{64}|UNSIGNED-PAYLOAD|STREAMING-UNSIGNED-PAYLOAD-TRAILER)$/

const payloadOf = async (
  { headers, body }: RequestDraft,
  credential: string,
): Promise<{ readonly body: Body | undefined; readonly hash: string }> => {
  const named = valueOf(headers, 'x-amz-content-sha256')
  if (named !== undefined && NAMED_PAYLOAD.test(named)) return { body, hash: named }
  if (named !== undefined)
    throw fail('credential-unusable', {
      credential,
      problem: `the tool signs every chunk of its upload (${named.slice(0, 64)}), which cannot be done anew`,
      fix: 'configure the tool to sign the payload as a whole',
    })
  if (body === undefined) return { body, hash: sha256('') }
  const whole = await readWhole(body, MAX_HASHED_BYTES)
  if (whole === undefined)
    throw fail('credential-unusable', {
      credential,
      problem: `a body without x-amz-content-sha256 is signed up to ${MAX_HASHED_BYTES >> 20} MB`,
      fix: 'let the tool send that header (payload signing), or smaller parts',
    })
  return { body: wholeBody(whole), hash: sha256(whole) }
}

export const authorizationFor = (
  { method, authority, target, headers, hash }: Omit<RequestDraft, 'body' | 'client'> & { readonly hash: string },
  keys: Keys,
  { time, region, service }: { readonly time: string; readonly region: string; readonly service: string },
): string => {
  const signed = new Map<string, string>([['host', authority]])
  for (const [name, value] of headers) {
    const key = name.toLowerCase()
    if (!key.startsWith('x-amz-') && key !== 'content-type') continue
    const clean = value.trim().replaceAll(/ +/g, ' ')
    signed.set(key, signed.has(key) ? `${signed.get(key) ?? ''},${clean}` : clean)
  }
  const names = [...signed.keys()].sort()
  const [path, query] = divided(target, '?')
  const canonical = [
    method,
    canonicalPath(path, service),
    canonicalQuery(query),
    ...names.map((name) => `${name}:${signed.get(name) ?? ''}`),
    '',
    names.join(';'),
    hash,
  ].join('\n')
  const scope = `${time.slice(0, 8)}/${region}/${service}/aws4_request`
  const text = ['AWS4-HMAC-SHA256', time, scope, sha256(canonical)].join('\n')
  const key = [time.slice(0, 8), region, service, 'aws4_request'].reduce<Buffer>(
    (secret, part) => hmac(secret, part),
    Buffer.from(`AWS4${keys.secretAccessKey}`, 'latin1'),
  )
  return (
    `AWS4-HMAC-SHA256 Credential=${keys.accessKeyId}/${scope}, SignedHeaders=${names.join(';')}, ` +
    `Signature=${hmac(key, text).toString('hex')}`
  )
}

const divided = (text: string, mark: string): readonly [before: string, after: string] => {
  const at = text.indexOf(mark)
  return at === -1 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)]
}

/** S3 signs a path as sent. Other services encode it once more. */
const canonicalPath = (path: string, service: string): string =>
  service === 's3' ? path : path.split('/').map(encode).join('/')

const canonicalQuery = (query: string): string =>
  query
    .split('&')
    .filter((part) => part !== '')
    .map((part) => {
      const [name, value] = divided(part, '=')
      return [encode(decode(name)), encode(decode(value))] as const
    })
    .sort(([a, x], [b, y]) => (a < b ? -1 : a > b ? 1 : x < y ? -1 : x > y ? 1 : 0))
    .map(([name, value]) => `${name}=${value}`)
    .join('&')

const decode = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

const encode = (text: string): string =>
  encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )

const sha256 = (content: Buffer | string): string => createHash('sha256').update(content).digest('hex')
const hmac = (key: Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()
