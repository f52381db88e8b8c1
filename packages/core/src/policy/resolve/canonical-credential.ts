// One text per credential and host, so that two credentials can be compared host by host.
import type { Credential } from '../credential.js'
import { renderDestination } from '../network/host-grant.js'

export const credentialTexts = (credentials: readonly Credential[]): readonly string[] =>
  credentials.flatMap(({ id, hosts, inject, placeholder }) =>
    hosts.map((host) =>
      JSON.stringify([
        id,
        renderDestination(host),
        Object.entries(inject).sort(byKey),
        placeholder === undefined ? null : [placeholder.name, placeholder.text],
      ]),
    ),
  )

export const byKey = ([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number =>
  one < other ? -1 : 1

/** Equal for two declarations of one credential that mean the same, in any order. */
export const canonicalCredentials = (credentials: readonly Credential[]): string =>
  [...new Set(credentialTexts(credentials))].sort().join('\n')
