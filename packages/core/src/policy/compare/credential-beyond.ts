import type { Boundary } from '../boundary.js'
import type { Credential, Injection } from '../credential.js'
import { HTTP_ONLY, requestBeyond } from './requests-beyond.js'
import type { RequestFound } from './requests-beyond.js'

/** A request that carries the credential in `a`, and in `b` does not carry it in the same way. */
export const credentialBeyond = (credential: Credential, a: Boundary, b: Boundary): RequestFound =>
  requestBeyond(
    { scopes: [a, credential.scope], hosts: credential.hosts },
    b.credentials
      .filter(({ id, inject }) => id === credential.id && coversInjection(inject, credential.inject))
      // Whether `b` allows the request at all is compared with the network.
      .map(({ scope, hosts }) => ({ scopes: [scope], hosts })),
    HTTP_ONLY,
  )

const coversInjection = (outer: Injection, inner: Injection): boolean => {
  switch (inner.kind) {
    case 'header':
      return (
        outer.kind === inner.kind &&
        outer.name.toLowerCase() === inner.name.toLowerCase() &&
        outer.format === inner.format
      )
    case 'basic':
      return outer.kind === inner.kind && outer.user === inner.user
    case 'query':
      return outer.kind === inner.kind && outer.parameter === inner.parameter
    case 'placeholder':
    case 'client-certificate':
      return outer.kind === inner.kind
    case 'aws-sigv4':
      return (
        outer.kind === inner.kind && coversWord(outer.service, inner.service) && coversWord(outer.region, inner.region)
      )
  }
}

/** An omitted service or region is the tool's own choice. */
const coversWord = (outer: string | undefined, inner: string | undefined): boolean =>
  outer === undefined || outer === inner
