import { namesOf } from '../glob/absolute-path.js'
import type { AbsolutePath } from '../glob/absolute-path.js'
import { SIDES, addAccess, addProtection, protectionBits } from './access-bits.js'
import type { ProtectionMark } from './access-bits.js'
import type { Boundary } from '../boundary.js'
import type { Bits } from './path-trie.js'
import { bitsAt, bitsUnder, createTrie, startAt, stepInto } from './path-trie.js'

export interface PathAccess {
  readonly readable: boolean
  readonly writable: boolean
}

/** A boundary prepared for many questions: what `isReadable` and `isWritable` say, in one walk. */
export type CompiledAccess = (path: AbsolutePath) => PathAccess

export const compileAccess = (boundary: Pick<Boundary, 'read' | 'write' | 'presetRead'>): CompiledAccess => {
  const trie = createTrie<ProtectionMark>()
  addAccess(trie, 'a', boundary)
  addProtection(trie, { a: boundary.write })
  const start = startAt(trie.build())
  return (path) => {
    let active = start
    let under: Bits = 0
    let here: Bits = 0
    for (const name of namesOf(path)) {
      under = bitsUnder(active, under)
      active = stepInto(active, name)
      const protection = protectionBits(active, under)
      here = protection.here
      under |= protection.beneath
    }
    return accessOf(bitsAt(active, under | here))
  }
}

const accessOf = (bits: Bits): PathAccess => {
  const { a } = SIDES
  const has = (bit: Bits) => (bits & bit) !== 0
  const inWriteGrant = has(a.grantWrite) && !has(a.carveWrite) && !has(a.carveRead)
  return {
    readable: !has(a.carveRead) && (has(a.grantRead) || has(a.grantPreset) || inWriteGrant),
    writable: inWriteGrant && !has(a.protected),
  }
}
