/** What a host says about itself. */
export interface HostState {
  readonly pid: number
  readonly aliveMs: number
  readonly served: number
  /** Commands that need a process of their own. */
  readonly refused: number
  readonly serving: number
  readonly memoryBytes: number
}
