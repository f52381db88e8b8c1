// The shape of a gap: a claim that a backend does not fulfil by its nature.

export interface Gap {
  /** As the documentation gives it. */
  readonly reason: string
  /** Part of the claim's failure. A claim that fails in another way is a defect. */
  readonly failure: string | RegExp
}

/** By claim. */
export type Gaps = Readonly<Record<string, Gap>>

/** The same gap for several claims. */
export const gapsFor = (reason: string, failure: Gap['failure'], claims: readonly string[]): Gaps =>
  Object.fromEntries(claims.map((claim) => [claim, { reason, failure }]))
