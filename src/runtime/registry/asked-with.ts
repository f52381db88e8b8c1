/** What a new call tells the registry besides its input. */
export interface AskedWith {
  /** The run of the team that the call belongs to; it must be approved and open. */
  readonly run?: string
  /** Which step of the run it is. */
  readonly step?: string
  /** What it is expected to cost: held back from budgets until it is known, and compared with what it did cost. */
  readonly costEstimate?: number
  /** How long it may wait for people and for its start; an hour when left out. */
  readonly validMs?: number
}
