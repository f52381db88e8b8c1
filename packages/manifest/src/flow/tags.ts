// The tags of a manifest: data and hosts that the project vouches for.
import { parseDestination, parsePathGlob } from 'cordon/policy'
import type { Endpoint, PathGlob } from 'cordon/policy'

import type { Manifest } from 'cordon/manifest'

import { fail } from '../errors/errors.js'

export interface Tags {
  /** Files that everybody may know. */
  readonly public: readonly PathGlob[]
  /** Files and hosts whose content nobody else can choose. */
  readonly trusted: { readonly files: readonly PathGlob[]; readonly hosts: readonly Endpoint[] }
  /** Hosts that may get all data. */
  readonly own: readonly Endpoint[]
}

export const readTags = (tags: Manifest['tags']): Tags => ({
  public: tags.public.map((text) => fileOf(text, 'public')),
  trusted: {
    files: tags.trusted.filter(isFile).map((text) => fileOf(text, 'trusted')),
    hosts: tags.trusted.filter((text) => !isFile(text)).map((text) => hostOf(text, 'trusted')),
  },
  own: tags.own.map((text) => hostOf(text, 'own')),
})

/** `trusted` has files and hosts, so its files begin like a path: `./docs`, `~/notes`, `/srv/data`. */
const isFile = (text: string): boolean => /^!?(?:\.{0,2}\/|~|\.{1,2}$)/.test(text)

const fileOf = (text: string, tag: string): PathGlob => parsed(tag, () => parsePathGlob(text, `tags.${tag}`))
const hostOf = (text: string, tag: string): Endpoint => parsed(tag, () => parseDestination(text, `tags.${tag}`))

const parsed = <Value>(tag: string, parse: () => Value): Value => {
  try {
    return parse()
  } catch (error) {
    const hint = tag === 'trusted' ? '; write a file as ./NAME, ~/NAME or /NAME' : ''
    throw fail('manifest-invalid', { problem: `${(error as Error).message}${hint}` })
  }
}
