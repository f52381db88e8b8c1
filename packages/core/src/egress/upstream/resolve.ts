import { lookup } from 'node:dns/promises'
import { readFile } from 'node:fs/promises'

import { fail } from '../../errors/index.js'
import { parseResolved } from '../../policy/index.js'
import type { HostName, IpAddress } from '../../policy/index.js'

export type Resolve = (name: HostName) => Promise<readonly IpAddress[]>

const FRESH_FOR = 5_000
const MOST = 1_000

/** The host's resolver, asked once for many connections. */
export const systemResolver = (): Resolve => {
  const known = new Map<string, { readonly addresses: Promise<readonly IpAddress[]>; readonly until: number }>()
  return (name) => {
    const before = known.get(name)
    if (before !== undefined && before.until > Date.now()) return before.addresses
    const addresses = lookUp(name)
    if (known.size >= MOST) known.clear()
    known.set(name, { addresses, until: Date.now() + FRESH_FOR })
    addresses.catch(() => known.delete(name))
    return addresses
  }
}

const lookUp = async (name: HostName): Promise<readonly IpAddress[]> => {
  const listed = hostsFileEntries(await readFile('/etc/hosts', 'utf8').catch(() => ''), name)
  if (listed.length > 0) return listed
  try {
    // With a final dot no search domain is tried, so that no other name is asked for. The hosts file knows no such dot.
    const answers = await lookup(name.includes('.') ? `${name}.` : name, { all: true, verbatim: true })
    return answers.flatMap(({ address }) => parseResolved(address) ?? [])
  } catch (error) {
    throw fail('upstream-unresolved', { host: name }, error)
  }
}

export const hostsFileEntries = (text: string, name: string): readonly IpAddress[] =>
  text.split('\n').flatMap((line) => {
    const [address = '', ...names] = (line.split('#', 1)[0] ?? '').trim().split(/\s+/)
    return names.some((each) => each.toLowerCase() === name) ? (parseResolved(address) ?? []) : []
  })
