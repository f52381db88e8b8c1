// Registers tools of an MCP server whose calls run in cells of their own. The policy of a tool is published with it.
import { CordonError } from 'cordon/errors'
import { isStandardSchema } from 'cordon/gate'
import type { StandardSchema } from 'cordon/gate'
import { describeValue } from 'cordon/policy'
import type { PolicyInput } from 'cordon/policy'
import { processTool, tool } from 'cordon'
import type { FunctionToolOptions, ProcessToolOptions, ToolDefinition } from 'cordon'
import { requirePortable } from 'cordon/runtime'

import { fail } from '../errors/errors.js'
import { publishedPolicy } from './proposal.js'
import { readContext } from './sdk-server.js'
import type { HandlerContext, ToolConfig, ToolRegistrar } from './sdk-server.js'
import { runtimeOf } from './server-runtime.js'
import type { SandboxSettings } from './server-runtime.js'
import { contentOf, refusedContent } from './tool-content.js'
import type { ToolContent } from './tool-content.js'

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

/** What the schema of the SDK makes of the arguments. */
type Parsed<Schema> = Schema extends StandardSchema<unknown, infer Output> ? Output : unknown

/** Registers a tool on an `McpServer` of the official SDK. Each call runs in its own cell, with exactly this policy. */
export const sandboxedTool = <
  Server extends ToolRegistrar,
  const Name extends string,
  Schema extends StandardSchema | undefined = undefined,
  Output = unknown,
>(
  server: Server,
  options: SandboxedToolOptions<Name, Schema, Parsed<Schema>, Output>,
): ReturnType<Server['registerTool']> => {
  const definition = definitionOf(options as AnyOptions)
  const runtime = runtimeOf(server)
  const { name, title, description, inputSchema, outputSchema, annotations } = options
  const handle = async (input: unknown, context: HandlerContext): Promise<ToolContent> => {
    const { signal, tellProgress } = readContext(context)
    try {
      const result = await runtime.call(name, input, { signal, onProgress: tellProgress })
      const { error } = result.facts
      if (error !== null) runtime.tell(error, name)
      return contentOf(result)
    } catch (error) {
      if (!(error instanceof CordonError)) throw error
      runtime.tell(error, name)
      return refusedContent(error)
    }
  }
  const published = publishedPolicy(options.policy)
  // Clients of the SDK keep unknown keys in `_meta`, and drop them from the annotations.
  const publishing = { annotations: { ...annotations, ...published }, _meta: published }
  const config: ToolConfig = { title, description, inputSchema, outputSchema, ...publishing }
  const registered = (server.registerTool as Register)(
    name,
    config,
    // Without a schema the SDK passes no arguments.
    inputSchema === undefined ? (context: HandlerContext) => handle({}, context) : handle,
  )
  runtime.add(definition)
  return registered as ReturnType<Server['registerTool']>
}

/** Settings for all sandboxed tools of a server. Call it before the server is connected. */
export const sandboxSettings = (server: ToolRegistrar, settings: SandboxSettings): void => {
  runtimeOf(server).configure(settings)
}

type Register = (name: string, config: ToolConfig, handler: (...given: never[]) => Promise<ToolContent>) => unknown

type AnyOptions = SandboxedToolOptions<string, StandardSchema | undefined, unknown, unknown>

const definitionOf = (options: AnyOptions): ToolDefinition => {
  const { title: _, outputSchema: __, annotations: ___, inputSchema, ...own } = options
  const of = `sandboxedTool(${JSON.stringify(own.name)})`
  if ('inProcess' in own)
    throw fail('option-unknown', { of, option: 'inProcess', fix: 'leave it out: only a cell can enforce the policy' })
  // JavaScript does not check types.
  if ((own.policy as unknown) === undefined)
    throw fail('option-invalid', {
      of,
      option: 'policy',
      expected: 'a policy',
      found: 'nothing',
      fix: 'write what it may touch, such as policy: { filesystem: { read: ["docs/**"] } }; {} grants nothing',
    })
  if (inputSchema !== undefined && !isStandardSchema(inputSchema))
    throw fail('option-invalid', {
      of,
      option: 'inputSchema',
      expected: 'a schema of zod or another library of Standard Schema',
      found: describeValue(inputSchema),
      fix: 'wrap it: z.object({ … })',
    })
  const input = inputSchema === undefined ? {} : { input: alreadyRead(inputSchema) }
  const definition = own.command === undefined ? tool({ ...own, ...input }) : processTool({ ...own, ...input })
  requirePortable(definition)
  return definition
}

/** The SDK has read the arguments with this schema. It keeps its marks, and reads nothing a second time. */
const alreadyRead = (schema: StandardSchema): StandardSchema =>
  Object.create(schema, {
    '~standard': { value: { ...schema['~standard'], validate: (value: unknown) => ({ value }) } },
  }) as StandardSchema
