import { coversEndpoint } from './network/covers-host.js'
import type { Endpoint, HostGrant } from './network/host-grant.js'
import type { RequestHost } from './network/network-request.js'

/** Where and how the proxy puts the value of a credential into a request. */
export type Injection =
  /** `format` contains `{value}`: `Bearer {value}`. */
  | { readonly kind: 'header'; readonly name: string; readonly format: string }
  | { readonly kind: 'basic'; readonly user: string }
  | { readonly kind: 'query'; readonly parameter: string }
  /** In place of the placeholder, in the URL or in a header. */
  | { readonly kind: 'placeholder' }
  /** A certificate and its key in PEM, presented to the server. */
  | { readonly kind: 'client-certificate' }
  /** AWS Signature Version 4. An omitted service or region is taken from the signature of the tool. */
  | { readonly kind: 'aws-sigv4'; readonly service: string | undefined; readonly region: string | undefined }

/** The requests that a policy allows. */
export interface RequestScope {
  readonly network:
    | { readonly kind: 'none' }
    | { readonly kind: 'all' }
    | { readonly kind: 'hosts'; readonly entries: readonly HostGrant[] }
  readonly egressClass: { readonly level: 'none' | 'read_only' | 'write'; readonly derived: boolean }
}

/** How a secret is used, never its value. With two ways of injection, it is two of these with one id. */
export interface Credential {
  readonly id: string
  /** The only destinations that get it. */
  readonly hosts: readonly Endpoint[]
  readonly inject: Injection
  /** The requests of its own policy. A request that only another policy allows does not get it. */
  readonly scope: RequestScope
  /** A variable of the tool with a text in place of the value. */
  readonly placeholder: { readonly name: string; readonly text: string } | undefined
}

/** The place in a request. Two credentials for one place exclude each other. */
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

/** The credentials of a destination. */
export const credentialsBoundTo = (
  credentials: readonly Credential[],
  host: RequestHost,
  port: number,
): readonly Credential[] => credentials.filter(({ hosts }) => hosts.some((named) => coversEndpoint(named, host, port)))

/** The credentials of a request, each once even if several policies declare it. */
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
