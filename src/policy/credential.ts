import { coversEndpoint } from './network/covers-host.js'
import type { HostGrant } from './network/host-grant.js'
import type { RequestHost } from './network/network-request.js'

/** Where and how the value of a credential is put into a request. */
export type Injection =
  /** `format` contains `{value}`: `Bearer {value}`. */
  | { readonly kind: 'header'; readonly name: string; readonly format: string }
  | { readonly kind: 'basic'; readonly user: string }
  | { readonly kind: 'query'; readonly parameter: string }
  /** Wherever the placeholder stands in the URL or in a header. */
  | { readonly kind: 'placeholder' }
  /** A certificate and its key in PEM, shown to the server. */
  | { readonly kind: 'client-certificate' }
  /** AWS Signature Version 4; what is not given here is taken from the signature that the tool made. */
  | { readonly kind: 'aws-sigv4'; readonly service: string | undefined; readonly region: string | undefined }

/** The requests that one policy allows, for as long as others are added to it. */
export interface RequestScope {
  readonly network:
    | { readonly kind: 'none' }
    | { readonly kind: 'all' }
    | { readonly kind: 'hosts'; readonly entries: readonly HostGrant[] }
  readonly egressClass: { readonly level: 'none' | 'read_only' | 'write'; readonly derived: boolean }
}

/**
 * The shape of a secret, never its value. One that is injected differently at two hosts is two of these with one id.
 */
export interface Credential {
  readonly id: string
  /** The only destinations for which it is ever used. */
  readonly hosts: readonly Pick<HostGrant, 'destination' | 'port'>[]
  readonly inject: Injection
  /** What the policy that declares it allows: a request that only another policy allows goes without it. */
  readonly scope: RequestScope
  /** A stand-in that the tool finds in its environment. */
  readonly placeholder: { readonly name: string; readonly text: string } | undefined
}

/** What names a credential is injected under: two that fill the same place of one request exclude each other. */
export const placeOfInjection = (inject: Injection): string | undefined => {
  switch (inject.kind) {
    case 'header':
      return `header ${inject.name.toLowerCase()}`
    case 'basic':
    case 'aws-sigv4':
      return 'header authorization'
    case 'query':
      return `query ${inject.parameter.toLowerCase()}`
    case 'client-certificate':
      return 'client certificate'
    case 'placeholder':
      return undefined
  }
}

/** Those that belong to a destination. */
export const credentialsBoundTo = (
  credentials: readonly Credential[],
  host: RequestHost,
  port: number,
): readonly Credential[] => credentials.filter(({ hosts }) => hosts.some((named) => coversEndpoint(named, host, port)))

/** Those of them for a request. Each is there once, though several policies may have brought it along. */
export const credentialsWithin = (
  bound: readonly Credential[],
  isWithin: (scope: RequestScope) => boolean,
): readonly Credential[] => {
  const found = new Map<string, Credential>()
  for (const credential of bound) {
    const key = JSON.stringify([credential.id, credential.inject])
    if (!found.has(key) && isWithin(credential.scope)) found.set(key, credential)
  }
  return [...found.values()]
}
