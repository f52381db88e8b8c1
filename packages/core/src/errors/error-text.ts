export interface ErrorText {
  /** When it happens, for the reference page. */
  readonly when: string
  /** For the operator: everything needed to understand it. */
  readonly message: string
  /** For the model: short, actionable, safe to disclose. */
  readonly agent: string
  /** The way out, as something to do. */
  readonly fix?: string
}
