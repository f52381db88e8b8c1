import type { Witness } from './witness.js'

/** Looks for one thing that `a` allows and `b` does not. */
export interface Check {
  /** Of two checks with one key, the first witness counts. */
  readonly key: string
  readonly find: () => Witness | undefined
  /** Only one grant can have a witness, whose key this is. Its parts have nothing to add. */
  readonly isSole?: boolean
  /** `b` has none of the parts as they are, so each is worth a search before the whole. */
  readonly arePartsNew?: boolean
  /** The same for each grant alone. */
  readonly parts?: () => readonly Check[]
}
