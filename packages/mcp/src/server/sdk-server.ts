// The parts of the official SDK that are used here, of both of its versions: `McpServer` of @modelcontextprotocol/sdk
// (1) and of @modelcontextprotocol/server (2). Neither package is imported, so a server needs only its own.

/** An `McpServer`. */
export interface ToolRegistrar {
  readonly registerTool: (name: string, config: never, handler: never) => unknown
  /** The connection below it. */
  readonly server: { onclose?: (() => void) | undefined }
}

/** What a tool is registered with. */
export interface ToolConfig {
  readonly title: string | undefined
  readonly description: string | undefined
  readonly inputSchema: unknown
  readonly outputSchema: unknown
  readonly annotations: Readonly<Record<string, unknown>>
  readonly _meta: Readonly<Record<string, unknown>>
}

interface RequestMeta {
  readonly progressToken?: string | number
}

type Notify = (notification: { readonly method: string; readonly params: object }) => Promise<void>

/** The last argument of a handler, in version 1 and in version 2. */
export type HandlerContext =
  | { readonly signal: AbortSignal; readonly sendNotification: Notify; readonly _meta?: RequestMeta }
  | { readonly mcpReq: { readonly signal: AbortSignal; readonly notify: Notify; readonly _meta?: RequestMeta } }

/** One call, as the client made it. */
export interface ClientCall {
  /** Aborted if the client cancels. */
  readonly signal: AbortSignal
  /** Does nothing if the client did not ask for progress. */
  readonly tellProgress: (value: unknown) => void
}

export const readContext = (context: HandlerContext): ClientCall => {
  const { signal, notify, _meta } =
    'mcpReq' in context ? context.mcpReq : { ...context, notify: context.sendNotification }
  const token = _meta?.progressToken
  let told = 0
  return {
    signal,
    tellProgress: (value) => {
      if (token === undefined) return
      told += 1
      const params = { ...progressOf(value, told), progressToken: token }
      // A client that has gone needs no progress.
      notify({ method: 'notifications/progress', params }).catch(() => undefined)
    },
  }
}

/** A number, or `{ progress, total, message }`, is passed on. Anything else is counted, and becomes the message. */
const progressOf = (value: unknown, told: number): object => {
  if (typeof value === 'number') return { progress: value }
  if (typeof value === 'object' && value !== null && 'progress' in value && typeof value.progress === 'number') {
    const { total, message } = value as { readonly total?: unknown; readonly message?: unknown }
    return {
      progress: value.progress,
      ...(typeof total === 'number' ? { total } : {}),
      ...(typeof message === 'string' ? { message } : {}),
    }
  }
  return { progress: told, message: typeof value === 'string' ? value : JSON.stringify(value) }
}
