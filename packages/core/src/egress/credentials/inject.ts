import { createHash } from 'node:crypto'
import { createSecureContext } from 'node:tls'

import { fail } from '../../errors/index.js'
import type { Header, HeaderList } from '../http/header-list.js'
import { isHeaderValue, withHeader } from '../http/header-list.js'
import { percentEncoded } from '../redaction/needles.js'
import type { ClientCertificate } from '../upstream/dial.js'

import { filterQuery, withoutForeignHeaders, withoutForeignParameters } from './foreign.js'
import type { RequestDraft, CredentialValue } from './draft.js'
import { readAwsKeys, signRequest } from './sigv4.js'

/**
 * In this order: the tool's own credentials are removed, ours are put in, and the signature comes last, because it
 * covers the rest.
 */
export const injectAll = async (
  draft: RequestDraft,
  valued: readonly CredentialValue[],
  now: Date,
): Promise<RequestDraft> => {
  const swaps = valued.filter(({ credential }) => credential.inject.kind === 'placeholder')
  const own: RequestDraft = {
    ...draft,
    headers: keepSwapped(draft.headers, withoutForeignHeaders(draft.headers), swaps),
    target: withoutForeignParameters(draft.target, draft.authority),
  }
  let filled = valued.reduce(fill, own)
  for (const { credential, value } of valued) {
    const { id, inject } = credential
    // The tool's own signature, which was removed, names region and service.
    if (inject.kind === 'aws-sigv4') filled = await signRequest(filled, { id, value, ...inject }, draft, now)
  }
  return filled
}

/** A header with a placeholder will carry our own credential. */
const keepSwapped = (all: HeaderList, kept: HeaderList, swaps: readonly CredentialValue[]): HeaderList =>
  all.filter(
    (header) =>
      kept.includes(header) ||
      swaps.some(
        ({ credential }) => credential.placeholder !== undefined && header[1].includes(credential.placeholder.text),
      ),
  )

const fill = (draft: RequestDraft, { credential, value }: CredentialValue): RequestDraft => {
  const { inject: injection, id } = credential
  switch (injection.kind) {
    case 'header':
      return { ...draft, headers: withHeader(draft.headers, injection.name, formatted(id, injection.format, value)) }
    case 'basic':
      return {
        ...draft,
        headers: withHeader(draft.headers, 'Authorization', basicAuthorization(injection.user, onOneLine(id, value))),
      }
    case 'query': {
      // `OPTIONS *` has no URL that could carry it.
      if (draft.target === '*') return draft
      const rest = filterQuery(draft.target, (name) => name !== injection.parameter.toLowerCase())
      const parameter = `${encodeURIComponent(injection.parameter)}=${inUrl(onOneLine(id, value))}`
      return { ...draft, target: `${rest}${rest.includes('?') ? '&' : '?'}${parameter}` }
    }
    case 'placeholder': {
      const standIn = credential.placeholder?.text
      if (standIn === undefined || standIn === '')
        throw fail('credential-unusable', {
          credential: id,
          problem: 'it has no placeholder to be put in place of',
          fix: 'name the variable that the tool finds a stand-in in: placeholder: NAME, beside its id',
        })
      const headers = draft.headers.map(([name, text]): Header => [name, formatted(id, text, value, standIn)])
      return { ...draft, headers, target: draft.target.replaceAll(standIn, () => inUrl(value)) }
    }
    case 'client-certificate':
      return { ...draft, client: readClientCertificate(id, value) }
    case 'aws-sigv4':
      return draft
  }
}

/** Refuses an unusable value before the tool runs. */
export const requireUsable = ({ credential: { id, inject: injection }, value }: CredentialValue): void => {
  switch (injection.kind) {
    case 'header':
      formatted(id, injection.format, value)
      return
    case 'placeholder':
    case 'basic':
    case 'query':
      onOneLine(id, value)
      return
    case 'client-certificate':
      requireMatchingKey(id, readClientCertificate(id, value))
      return
    case 'aws-sigv4':
      readAwsKeys(id, value)
      return
  }
}

/** The secret parts of a value that are sent to a server, and texts made of them. Answers are searched for these. */
export const sentTexts = ({ credential, value }: CredentialValue): readonly string[] => {
  const { inject, id } = credential
  switch (inject.kind) {
    case 'basic':
      return [value, basicAuthorization(inject.user, value).slice('Basic '.length)]
    case 'aws-sigv4': {
      // The id of a key is public.
      const { secretAccessKey, sessionToken } = readAwsKeys(id, value)
      return [secretAccessKey, ...(sessionToken === undefined ? [] : [sessionToken])]
    }
    case 'client-certificate':
      // The key never leaves this process.
      return []
    case 'header':
    case 'query':
    case 'placeholder':
      return [value]
  }
}

/** The parts that must not be in a cell. Of a key in PEM each line, because variables often hold it on one line. */
export const keptTexts = (valued: CredentialValue): readonly string[] =>
  valued.credential.inject.kind === 'client-certificate'
    ? readClientCertificate(valued.credential.id, valued.value)
        .privateKey.split(/\s+/)
        .filter((line) => line.length >= LONG_LINE)
    : sentTexts(valued)

const LONG_LINE = 48

const basicAuthorization = (user: string, password: string): string =>
  `Basic ${Buffer.from(`${Buffer.from(user).toString('latin1')}:${password}`, 'latin1').toString('base64')}`

/** Redaction takes the end of a line for the end of every secret, also of one that a server would accept. */
const onOneLine = (credential: string, value: string): string => formatted(credential, '{value}', value)

/** The text of a header with the value in place of its mark. */
const formatted = (credential: string, format: string, value: string, mark = '{value}'): string => {
  const text = format.replaceAll(mark, () => value)
  if (!isHeaderValue(text))
    throw fail('credential-unusable', {
      credential,
      problem: 'its value contains a character that no header may, such as a line break',
      fix: 'see to it that its source holds the value alone, on one line',
    })
  return text
}

/** Encodes bytes. Colons stay, because some tokens contain them. */
const inUrl = (value: string): string => percentEncoded(Buffer.from(value, 'latin1'), /[A-Za-z0-9\-._~:]/)

const CERTIFICATES = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g
const KEY = /-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----(?:(?!-----BEGIN )[\s\S])*?-----END (?:[A-Z]+ )?PRIVATE KEY-----/

/** Reads a certificate, its chain and its key from PEM. */
const readClientCertificate = (credential: string, value: string): ClientCertificate => {
  const certificate = Array.from(value.matchAll(CERTIFICATES), ([text]) => text).join('\n')
  const [privateKey] = KEY.exec(value) ?? []
  if (certificate === '' || privateKey === undefined)
    throw fail('credential-unusable', {
      credential,
      problem: 'its value is not a certificate and its private key in PEM',
      fix:
        'put both into one file (cat client.crt client.key > client.pem), and name that as its source: ' +
        'file:client.pem',
    })
  // Connections are kept apart by certificate. A renewed one is another.
  const id = `${credential} ${createHash('sha256').update(certificate).digest('hex').slice(0, 16)}`
  return { id, certificate, privateKey }
}

const requireMatchingKey = (credential: string, { certificate, privateKey }: ClientCertificate): void => {
  try {
    createSecureContext({ cert: certificate, key: privateKey })
  } catch {
    // The cause may quote the value.
    throw fail('credential-unusable', {
      credential,
      problem: 'its certificate or its key cannot be read, or they do not belong to each other',
      fix: 'take the key (without a password) and the certificate that was made for it',
    })
  }
}
