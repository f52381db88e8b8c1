/** What a host says about itself. */
export interface HostState {
  readonly pid: number
  readonly aliveMs: number
  readonly served: number
  /** Commands that need a process of their own. */
  readonly refused: number
  /** Why the last one does, or null. */
  readonly refusedBecause: string | null
  readonly serving: number
  readonly memoryBytes: number
}
