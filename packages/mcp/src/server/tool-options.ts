import type { StandardSchema } from 'cordon/gate'
import type { PolicyInput } from 'cordon/policy'
import type { CordonOptions, FunctionToolOptions, ProcessToolOptions } from 'cordon'

/** What a client reads of a tool. */
interface Described {
  readonly title?: string
  readonly description?: string
  /** As for the SDK. Hints such as `readOnlyHint` grant nothing. */
  readonly annotations?: Readonly<Record<string, unknown>>
  readonly outputSchema?: unknown
  /** What a call may touch. It is published. `{}` grants nothing. */
  readonly policy: PolicyInput
}

/** The schema that the SDK takes, such as `z.object({ … })`. The SDK checks the arguments with it. */
interface WithSchema<Schema extends StandardSchema | undefined> {
  readonly inputSchema?: Schema
}

type Replaced = 'input' | 'inProcess' | keyof Described

/** A tool that is a function (`run`), a function of a module (`module`, `export`), or a program (`command`). */
export type SandboxedToolOptions<
  Name extends string,
  Schema extends StandardSchema | undefined,
  Input,
  Output,
> = Described &
  WithSchema<Schema> &
  (
    | (Omit<FunctionToolOptions<Name, undefined, Input, Output>, Replaced> & { readonly command?: never })
    | (Omit<ProcessToolOptions<Name, undefined, Input>, Replaced> & { readonly run?: never; readonly module?: never })
  )

/** Why a call gave no result. */
export interface Trouble {
  readonly code: string
  readonly message: string
  readonly fix?: string | null | undefined
}

/** Settings of the runtime of one server, as of `createCordon`. */
export interface SandboxSettings extends Pick<
  Partial<CordonOptions>,
  | 'workspace'
  | 'home'
  | 'mode'
  | 'rules'
  | 'ruleFiles'
  | 'hooks'
  | 'approve'
  | 'audit'
  | 'onEvent'
  | 'environment'
  | 'egress'
  | 'sandbox'
> {
  /** Gets the reason of each call without a result, for the operator (default: a line on stderr). */
  readonly onTrouble?: (trouble: Trouble, tool: string) => void
}
