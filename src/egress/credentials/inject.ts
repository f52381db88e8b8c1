import { fail } from '../../errors/index.js'
import type { Credential } from '../../policy/index.js'
import type { Body } from '../http/body.js'
import type { HeaderList } from '../http/header-list.js'
import { isHeaderValue, withHeader } from '../http/header-list.js'
import type { ClientCertificate } from '../upstream/dial.js'

import { readClientCertificate, requireMatchingKey } from './client-certificate.js'
import { filterQuery, withoutForeignHeaders, withoutForeignParameters } from './foreign.js'
import { readAwsKeys, signRequest } from './sigv4.js'

/** The parts of a request that a credential changes. */
export interface Draft {
  readonly method: string
  readonly authority: string
  readonly target: string
  readonly headers: HeaderList
  readonly body: Body | undefined
  readonly client: ClientCertificate | undefined
}

export interface Valued {
  readonly credential: Credential
  readonly value: string
}

/**
 * In this order, whatever that of the credentials: what the tool itself sent to be known by is taken out, then
 * everything is put in that belongs there, and what signs the request comes last, because it signs the rest.
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

/** A header in which a placeholder stands is about to carry our own credential. */
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
      return {
        ...draft,
        headers: withHeader(
          draft.headers,
          injection.name,
          forHeader(
            id,
            injection.format.replaceAll('{value}', () => value),
          ),
        ),
      }
    case 'basic':
      return {
        ...draft,
        headers: withHeader(draft.headers, 'Authorization', basicAuthorization(injection.user, value)),
      }
    case 'query': {
      // OPTIONS of the server as a whole has no URL that could carry it.
      if (draft.target === '*') return draft
      const rest = filterQuery(draft.target, (name) => name !== injection.parameter.toLowerCase())
      return {
        ...draft,
        target: `${rest}${rest.includes('?') ? '&' : '?'}${encodeURIComponent(injection.parameter)}=${percentEncoded(value)}`,
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
      const headers = draft.headers.map(
        ([name, text]) =>
          [
            name,
            text.includes(standIn)
              ? forHeader(
                  id,
                  text.replaceAll(standIn, () => value),
                )
              : text,
          ] as const,
      )
      return { ...draft, headers, target: draft.target.replaceAll(standIn, () => percentEncoded(value)) }
    }
    case 'client-certificate':
      return { ...draft, client: readClientCertificate(id, value) }
    case 'aws-sigv4':
      return draft
  }
}

/** The signature of the tool, which is no longer in the request, names region and service. */
const sign = (
  draft: Draft,
  { credential: { id, inject }, value }: Valued,
  asked: Draft,
  now: Date,
): Promise<Draft> | Draft =>
  inject.kind === 'aws-sigv4' ? signRequest(draft, { id, value, ...inject }, asked, now) : draft

/** Refuses a value that could not be put in, before anything runs that would wait for it. */
export const requireUsable = ({ credential: { id, inject: injection }, value }: Valued): void => {
  switch (injection.kind) {
    case 'header':
      forHeader(
        id,
        injection.format.replaceAll('{value}', () => value),
      )
      return
    case 'placeholder':
      forHeader(id, value)
      return
    case 'client-certificate':
      requireMatchingKey(id, readClientCertificate(id, value))
      return
    case 'aws-sigv4':
      readAwsKeys(id, value)
      return
    case 'basic':
    case 'query':
  }
}

export const basicAuthorization = (user: string, password: string): string =>
  `Basic ${Buffer.from(`${Buffer.from(user).toString('latin1')}:${password}`, 'latin1').toString('base64')}`

const forHeader = (credential: string, text: string): string => {
  if (!isHeaderValue(text))
    throw fail('credential-unusable', {
      credential,
      problem: 'its value contains a character that no header may, such as a line break',
      fix: 'see to it that its source holds the value alone, on one line',
    })
  return text
}

/** Of bytes; colons stay, which some services have in their tokens. */
export const percentEncoded = (value: string): string =>
  Array.from(Buffer.from(value, 'latin1'), (byte) => {
    const character = String.fromCharCode(byte)
    return /[A-Za-z0-9\-._~:]/.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
  }).join('')
