import { containerTool } from '../../src/runtime/index.js'
import type { ProcessOutput, ToolDefinition } from '../../src/runtime/index.js'

export type ShellPolicy = NonNullable<Parameters<typeof containerTool>[0]['policy']>

export interface Script {
  readonly script: string
}

/** A tool that runs any script in a container of an image. */
export const shellTool = (image: string, policy: ShellPolicy): ToolDefinition<'shell', Script, ProcessOutput> =>
  containerTool({
    name: 'shell',
    image,
    policy,
    argumentGate: 'off',
    command: ({ script }: Script) => ['sh', '-c', script],
  })
