import { fail } from '../../errors/index.js'
import type { Header, HeaderList } from '../http/header-list.js'
import { isHeaderValue, withHeader } from '../http/header-list.js'

import { readClientCertificate, requireMatchingKey } from './client-certificate.js'
import { filterQuery, withoutForeignHeaders, withoutForeignParameters } from './foreign.js'
import type { Draft, Valued } from './draft.js'
import { readAwsKeys, signRequest } from './sigv4.js'

/**
 * In this order: the tool's own credentials are removed, ours are put in, and the signature comes last, because it
 * covers the rest.
 */
export const injectAll = async (draft: Draft, valued: readonly Valued[], now: Date): Promise<Draft> => {
  const swaps = valued.filter(({ credential }) => credential.inject.kind === 'placeholder')
  const own: Draft = {
    ...draft,
    headers: keepSwapped(draft.headers, withoutForeignHeaders(draft.headers), swaps),
    target: withoutForeignParameters(draft.target, draft.authority),
  }
  const filled = valued.reduce(fill, own)
  return valued.reduce<Promise<Draft>>(
    async (before, each) => sign(await before, each, draft, now),
    Promise.resolve(filled),
  )
}

/** A header with a placeholder will carry our own credential. */
const keepSwapped = (all: HeaderList, kept: HeaderList, swaps: readonly Valued[]): HeaderList =>
  all.filter(
    (header) =>
      kept.includes(header) ||
      swaps.some(
        ({ credential }) => credential.placeholder !== undefined && header[1].includes(credential.placeholder.text),
      ),
  )

const fill = (draft: Draft, { credential, value }: Valued): Draft => {
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
      return {
        ...draft,
        target: `${rest}${rest.includes('?') ? '&' : '?'}${encodeURIComponent(injection.parameter)}=${percentEncoded(onOneLine(id, value))}`,
      }
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
      return { ...draft, headers, target: draft.target.replaceAll(standIn, () => percentEncoded(value)) }
    }
    case 'client-certificate':
      return { ...draft, client: readClientCertificate(id, value) }
    case 'aws-sigv4':
      return draft
  }
}

/** The tool's own signature, which was removed, names region and service. */
const sign = (
  draft: Draft,
  { credential: { id, inject }, value }: Valued,
  asked: Draft,
  now: Date,
): Promise<Draft> | Draft =>
  inject.kind === 'aws-sigv4' ? signRequest(draft, { id, value, ...inject }, asked, now) : draft

/** Refuses an unusable value before the tool runs. */
export const requireUsable = ({ credential: { id, inject: injection }, value }: Valued): void => {
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

export const basicAuthorization = (user: string, password: string): string =>
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
const percentEncoded = (value: string): string =>
  Array.from(Buffer.from(value, 'latin1'), (byte) => {
    const character = String.fromCharCode(byte)
    return /[A-Za-z0-9\-._~:]/.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
  }).join('')
