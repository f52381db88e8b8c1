// What `cordon run` is told about the way to granted hosts.
import { readFileSync } from 'node:fs'

import { fail } from '../errors/index.js'
import type { IpAddress } from '../policy/index.js'
import { parseIpAddress, parseRequestHost } from '../policy/index.js'

import { reasonOf } from './policy-file.js'

export interface EgressOrder {
  /** `--resolve` */
  readonly pins: ReadonlyMap<string, readonly IpAddress[]>
  /** `--upstream-ca`, in PEM. */
  readonly authorities: readonly string[]
}

export const NO_EGRESS: EgressOrder = { pins: new Map(), authorities: [] }

/** What is typed comes last, and wins. */
export const joinEgress = (found: EgressOrder, typed: EgressOrder): EgressOrder => ({ pins: new Map([...found.pins, ...typed.pins]), authorities: [...found.authorities, ...typed.authorities] })

export const parseEgress = (resolve: readonly string[], authorityFile: string | undefined): EgressOrder => {
  const pins = new Map<string, readonly IpAddress[]>()
  for (const text of resolve) {
    const { name, address } = parsePin(text)
    pins.set(name, [...(pins.get(name) ?? []), address])
  }
  return { pins, authorities: authorityFile === undefined ? [] : [readAuthorities(authorityFile)] }
}

const parsePin = (text: string): { readonly name: string; readonly address: IpAddress } => {
  const [, hostText = '', addressText = ''] = /^([^=]*)=(.*)$/s.exec(text) ?? []
  const host = parseRequestHost(hostText)
  const address = parseIpAddress(addressText)
  if (host?.kind !== 'name' || address === undefined) throw fail('usage-error', { problem: `--resolve ${text} is not HOST=ADDRESS`, fix: 'write --resolve example.org=192.0.2.1' })
  return { name: host.name, address }
}

const readAuthorities = (path: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw fail('usage-error', { problem: `--upstream-ca ${path} cannot be read: ${reasonOf(cause)}`, fix: 'name a file with certificates in PEM' }, cause)
  }
}
