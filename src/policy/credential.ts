import type { HostGrant } from './host-grant.js'

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

/** The shape of a secret, never its value. */
export interface Credential {
  readonly id: string
  /** The only destinations for which it is ever used. */
  readonly hosts: readonly Pick<HostGrant, 'destination' | 'port'>[]
  readonly inject: Injection
  /** A stand-in that the tool finds in its environment. */
  readonly placeholder: { readonly name: string; readonly text: string } | undefined
}
