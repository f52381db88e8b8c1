// Function tools where nothing can keep a process from starting programs.
//
// A function that omits `exec` starts no programs. In the landlock form only a seccomp listener can enforce that, and
// inside another cell there is none. A function tool could then never run there. So it may start programs, with the
// rights of its cell, and its profile says so. A policy that says `exec: none` is refused there.
import { CordonError } from 'cordon/errors'
import type { ToolDefinition } from 'cordon'
import { openSandbox } from 'cordon/sandbox'
import type { SandboxOptions } from 'cordon/sandbox'

export const forThisHost = async (
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
