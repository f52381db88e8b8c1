// A runtime that is opened by its first call, and again by the first call after it was closed.
import { createCordon } from 'cordon'
import type { CallOptions, Cordon, CordonOptions, ToolDefinition, ToolResult } from 'cordon'
import { CordonError } from 'cordon/errors'
import { openSandbox } from 'cordon/sandbox'
import type { SandboxOptions } from 'cordon/sandbox'

export interface LazyRuntime {
  readonly isOpen: () => boolean
  /** A tool replaces an earlier one of its name. */
  readonly add: (tool: ToolDefinition) => void
  readonly call: (name: string, input: unknown, options: CallOptions) => Promise<ToolResult>
  /** Ends the calls that run. */
  readonly close: () => Promise<void>
}

/** `settings` are asked for when the runtime is opened. */
export const createLazyRuntime = (settings: () => Omit<CordonOptions, 'tools'>): LazyRuntime => {
  const tools = new Map<string, ToolDefinition>()
  /** Of tools that the open runtime does not take. The others go on. */
  const problems = new Map<string, unknown>()
  let opening: Promise<Cordon> | undefined

  const createWithTools = async (): Promise<Cordon> => {
    const options = settings()
    return createCordon({ ...options, tools: await forThisHost([...tools.values()], options.sandbox) })
  }
  const open = (): Promise<Cordon> => {
    opening ??= createWithTools().catch((error: unknown) => {
      opening = undefined
      throw error
    })
    return opening
  }
  const replace = async (cordon: Cordon, tool: ToolDefinition, isKnown: boolean): Promise<Cordon> => {
    problems.delete(tool.name)
    try {
      if (isKnown) await cordon.removeTool(tool.name)
      await cordon.addTool(...(await forThisHost([tool], settings().sandbox)))
    } catch (error) {
      problems.set(tool.name, error)
    }
    return cordon
  }
  return {
    isOpen: () => opening !== undefined,
    add: (tool) => {
      const isKnown = tools.has(tool.name)
      tools.set(tool.name, tool)
      opening = opening?.then((cordon) => replace(cordon, tool, isKnown))
      opening?.catch(() => undefined)
    },
    call: async (name, input, options) => {
      const cordon = await open()
      if (problems.has(name)) throw problems.get(name)
      return cordon.call(name, input, options)
    },
    close: async () => {
      const opened = opening
      opening = undefined
      await (await opened?.catch(() => undefined))?.close()
    },
  }
}

/**
 * A function that omits `exec` starts no programs. In the landlock form only a seccomp listener can enforce that, and
 * inside another cell there is none. A function tool could then never run there. So it may start programs, with the
 * rights of its cell, and its profile says so. A policy that says `exec: none` is refused there.
 */
const forThisHost = async (
  tools: readonly ToolDefinition[],
  options: SandboxOptions | undefined,
): Promise<readonly ToolDefinition[]> => {
  if (!tools.some(omitsPrograms) || (await canRestrictPrograms(options))) return tools
  return tools.map((tool) =>
    omitsPrograms(tool) ? { ...tool, policy: { ...tool.policy, exec: { kind: 'all' } } } : tool,
  )
}

const omitsPrograms = ({ kind, policy }: ToolDefinition): boolean =>
  kind === 'function' && policy.exec.kind === 'unspecified'

const canRestrictPrograms = async (options: SandboxOptions | undefined): Promise<boolean> => {
  try {
    const sandbox = await openSandbox({ ...options, nursery: 'none' })
    const { listener, namespaces, mounts } = sandbox.strongest
    await sandbox.close()
    const form = options?.form ?? 'auto'
    return listener.held || (form === 'mounts' ? mounts.held : namespaces.held && form !== 'landlock')
  } catch (error) {
    // The call itself then says why there is no sandbox.
    if (error instanceof CordonError) return true
    throw error
  }
}
