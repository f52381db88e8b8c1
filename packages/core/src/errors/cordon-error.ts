const BRAND = Symbol.for('cordon.error')

/** Made only by `fail`, so that every message comes from the table. */
export class CordonError extends Error {
  override readonly name = 'CordonError'
  /** Marks errors of every copy of this module: a bundle of the command line, a package that is installed twice. */
  readonly [BRAND] = true

  static override [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === 'object' && value !== null && BRAND in value
  }

  /** One of the table of the core, or of a package around it. */
  readonly code: string
  /** Safe to show to a model: reveals nothing about the host. */
  readonly agentMessage: string
  /** What to do about it, where something can be done. */
  readonly fix: string | undefined
  /** The facts behind the message, for records. */
  readonly params: Readonly<Record<string, string | number>>

  constructor(
    code: string,
    texts: Pick<CordonError, 'message' | 'agentMessage' | 'fix'>,
    params: Readonly<Record<string, string | number>>,
    cause: unknown,
  ) {
    super(texts.message, cause === undefined ? undefined : { cause })
    this.code = code
    this.agentMessage = texts.agentMessage
    this.fix = texts.fix
    this.params = params
  }
}

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

export const messageOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))

/** `ENOENT: no such file or directory, open 'x'` without the part that the message has already. */
export const reasonOf = (cause: unknown): string => messageOf(cause).replace(/, \w+(?: '.*)?$/s, '')

/** The code of an error of the operating system, such as `ENOENT`. */
export const codeOf = (cause: unknown): string | undefined =>
  cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : undefined
