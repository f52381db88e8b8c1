// Network options of `cordon run`.
import { fail } from '../errors/index.js'
import type { Boundary, IpAddress } from '../policy/index.js'
import { parseIpAddress, parseRequestHost, strayName } from '../policy/index.js'

export interface EgressOrder {
  /** `--resolve` */
  readonly pins: ReadonlyMap<string, readonly IpAddress[]>
  /** `--upstream-ca`, in PEM. */
  readonly authorities: readonly string[]
}

export const readEgress = async (
  resolve: readonly string[],
  authorityFile: string | undefined,
): Promise<EgressOrder> => {
  const pins = new Map<string, readonly IpAddress[]>()
  for (const text of resolve) {
    const { name, address } = parsePin(text)
    pins.set(name, [...(pins.get(name) ?? []), address])
  }
  return {
    pins,
    authorities:
      authorityFile === undefined ? [] : [(await import('./upstream-authorities.js')).readAuthorities(authorityFile)],
  }
}

/** Warns of a mistyped name. Other unused names are no mistake: scripts often pin more than one command needs. */
export const unusedPins = (pins: EgressOrder['pins'], network: Boundary['network']): readonly string[] =>
  [...pins.keys()]
    .flatMap((name) => strayName([name], [network]) ?? [])
    .map(
      ({ name, near }) =>
        `--resolve ${name}: no grant covers that name, so this has no ` +
        `effect${near === undefined ? '' : `; did you mean ${near}?`}`,
    )

const parsePin = (text: string): { readonly name: string; readonly address: IpAddress } => {
  const [, hostText = '', addressText = ''] = /^([^=]*)=(.*)$/s.exec(text) ?? /^([^:]+:\d+):(.*)$/s.exec(text) ?? []
  const host = parseRequestHost(hostText)
  const address = parseIpAddress(addressText)
  if (host?.kind !== 'name' || address === undefined)
    throw fail('usage-error', {
      problem: `--resolve ${text} is not HOST=ADDRESS`,
      fix: `write --resolve ${meantPin(hostText, addressText) ?? 'example.org=192.0.2.1'}`,
    })
  return { name: host.name, address }
}

/** Reads the forms of other programs, with a port or with colons. A pin is for all ports. */
const meantPin = (hostText: string, addressText: string): string | undefined => {
  const host = parseRequestHost(hostText.replace(/:\d+$/, ''))
  const meant = [addressText, addressText.replace(/^\[(.+)\](?::\d+)?$/, '$1'), addressText.replace(/:\d+$/, '')].find(
    (text) => parseIpAddress(text) !== undefined,
  )
  return host?.kind === 'name' && meant !== undefined ? `${host.name}=${meant}` : undefined
}
