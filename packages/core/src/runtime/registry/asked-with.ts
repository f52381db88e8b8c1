/** What a new call tells the registry besides its input. */
export interface AskedWith {
  /** The run of the team that the call belongs to; it must be approved and open. */
  readonly run?: string
  /** Which step of the run it is. */
  readonly step?: string
  /** Expected cost. It is reserved in budgets until the real cost is known. */
  readonly costEstimate?: number
  /** How long it may wait for people and for its start (default: an hour). */
  readonly validMs?: number
}
