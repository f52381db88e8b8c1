// For users of sandlock: tools by their capability keys, each call in its own cell.
import type { JsonSchema } from 'cordon/gate'
import { escapeGlob } from 'cordon/policy'
import { toModel, tool } from 'cordon'
import type { ModelResult, ToolContext } from 'cordon'
import { requirePortable } from 'cordon/runtime'
import { withoutUndefined } from 'cordon/shapes'

import { createLazyRuntime } from './lazy-runtime.js'
import { policyFromCapabilities } from './sandlock-capabilities.js'
import type { SandlockCapabilities } from './sandlock-capabilities.js'

export interface McpSandboxOptions {
  /** An absolute path. Every tool may read it. */
  readonly workspace: string
  /** Of one call (default: `30s`). */
  readonly timeout?: string
}

export interface McpToolOptions {
  readonly description?: string
  readonly capabilities?: SandlockCapabilities
  readonly inputSchema?: JsonSchema
}

export interface McpSandbox {
  /**
   * `run` is sent to its cell by its source, so it may use nothing from outside of itself. In TypeScript, annotate its
   * parameter.
   */
  readonly addTool: (
    name: string,
    run: (input: never, context: ToolContext) => unknown,
    options?: McpToolOptions,
  ) => void
  /** What a model should read. A refusal is a result with `isError`. */
  readonly callTool: (
    name: string,
    input?: unknown,
    options?: { readonly signal?: AbortSignal },
  ) => Promise<ModelResult>
  readonly close: () => Promise<void>
}

/** Nobody is asked: each call is held by its cell alone. */
export const createMcpSandbox = ({ workspace, timeout = '30s' }: McpSandboxOptions): McpSandbox => {
  const runtime = createLazyRuntime(() => ({ workspace, mode: 'bypass' }))
  return {
    addTool: (name, run, { description, capabilities = {}, inputSchema } = {}) => {
      const { filesystem, limits, ...policy } = policyFromCapabilities(capabilities, `the tool ${JSON.stringify(name)}`)
      const definition = tool({
        name,
        run,
        ...withoutUndefined({ description, input: inputSchema }),
        policy: {
          ...policy,
          filesystem: { ...filesystem, read: [escapeGlob(workspace), ...filesystem.read] },
          limits: { wall: timeout, ...limits },
        },
      })
      requirePortable(definition)
      runtime.add(definition)
    },
    callTool: async (name, input = {}, options = {}) => toModel(await runtime.call(name, input, options)),
    close: runtime.close,
  }
}
