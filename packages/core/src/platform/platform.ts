// The one place that knows the operating system. Rooms ask it for facts that Linux has in /proc, and macOS has not.
/** A process, as the system describes it to others. */
export interface ProcessFacts {
  /** Differs from the start of every other process with the same id. */
  readonly start: string
  /** It has ended, and its parent has not noticed yet. */
  readonly hasEnded: boolean
}

export interface Platform {
  /** As `process.platform` spells it. */
  readonly name: string
  /** For people. */
  readonly label: string
  /** Undefined if the process is not there, or the system does not say. */
  readonly factsOf: (pid: number) => ProcessFacts | undefined
  /** The numbers of processes mean something only in their namespace. Empty if the system has one for all. */
  readonly pidNamespace: () => string
  /** Changes when the machine is started. Empty if it is not known. */
  readonly bootId: () => string
  /** A path to what this descriptor refers to, which can be opened again. Undefined if the system has none. */
  readonly pathOfDescriptor: (descriptor: number) => string | undefined
  /** Whether this process's job gets the keys of its terminal. True without job control, or if it is not known. */
  readonly isInForeground: () => boolean
}
