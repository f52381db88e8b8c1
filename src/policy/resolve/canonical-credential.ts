// One text per credential and host. Kept by host, so that the hosts of one may be compared with those of another.
import type { Credential } from '../credential.js'
import { renderDestination } from '../network/host-grant.js'

export const credentialTexts = (credentials: readonly Credential[]): readonly string[] =>
  credentials.flatMap(({ id, hosts, inject, placeholder }) =>
    hosts.map((host) =>
      JSON.stringify([
        id,
        renderDestination(host),
        Object.entries(inject).sort(byName),
        placeholder === undefined ? null : [placeholder.name, placeholder.text],
      ]),
    ),
  )

const byName = ([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number =>
  one < other ? -1 : 1

/** Equal where two declarations of one credential say the same, in any order. */
export const canonicalCredentials = (credentials: readonly Credential[]): string =>
  [...new Set(credentialTexts(credentials))].sort().join('\n')
