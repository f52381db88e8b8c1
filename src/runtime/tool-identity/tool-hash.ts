// One hash of everything that decides what a tool does, except the host's programs that it starts. It tells whether a
// runner has the tool that the team registered.
import { createHash } from 'node:crypto'
import { lstatSync, readFileSync } from 'node:fs'
import { dirname, relative } from 'node:path'

import { fail } from '../../errors/index.js'
import { hashOf, isStandardSchema } from '../../gate/index.js'
import type { JsonValue } from '../../gate/index.js'
import { policyHash } from '../../policy/index.js'

import { pathOf, selfContainedSource, sourceOnHost } from '../tools/function-source.js'
import { moduleFiles } from '../tools/module-files.js'
import type { FunctionSource, ToolContainer, ToolDefinition } from '../tools/tools.js'

import type { CommandTemplate } from './command-template.js'

/** Changed whenever the same tool would get another hash. */
const FORM = 'cordon-tool/1'

/** `template`: for a tool from a file. Other tools are hashed by the source of their functions. */
export const toolHash = (tool: ToolDefinition, template?: CommandTemplate): string => {
  const { name, description, kind, schema, policy, constraints, cwd, argumentGate, destructive } = tool
  if (isStandardSchema(schema))
    throw cannot(
      tool,
      'its input is described by a library',
      'describe it by a JSON Schema, which the registry checks too',
    )
  return hashOf({
    form: FORM,
    name,
    description,
    kind,
    input: plain(schema),
    policy: policyHash(policy),
    constraints: plain(constraints),
    cwd: cwd ?? null,
    argument_gate: argumentGate,
    destructive: typeof destructive === 'function' ? sourceOf(tool, destructive) : plain(destructive),
    code:
      template === undefined
        ? codeOf(tool)
        : { words: template.words, stdin: template.stdin ?? null, successes: successesOf(tool) },
  })
}

const codeOf = (tool: ToolDefinition): JsonValue => {
  switch (tool.kind) {
    case 'process':
      return {
        command: sourceOf(tool, tool.command),
        stdin: tool.stdin === undefined ? null : sourceOf(tool, tool.stdin),
        successes: tool.successes,
        ...containerOf(tool.container),
      }
    case 'function':
      return codeOfFunction(tool, tool.from)
    case 'mcp':
      throw cannot(tool, 'its server runs behind a gateway', 'register the server as a process tool')
    case 'in-process':
      throw cannot(tool, 'it would run in the process of the runner, where nothing holds it', 'leave inProcess out')
  }
}

/** The image by its name: a tag may mean another image later. */
export const containerOf = (container: ToolContainer | undefined): Readonly<Record<string, JsonValue>> =>
  container === undefined ? {} : { container: [container.image, container.runtime ?? null] }

const codeOfFunction = (tool: ToolDefinition, from: FunctionSource): JsonValue => {
  switch (from.kind) {
    case 'function':
      return { run: selfContainedSource(tool.name, from.run) }
    case 'module':
      return { module: moduleCode(tool.name, from.path), export: from.name }
    case 'wasm':
      return {
        wasm: createHash('sha256').update(from.bytes).digest('hex'),
        words: from.written.map((each) => (each === undefined ? null : sourceOf(tool, each))),
        successes: from.successes,
      }
  }
}

const successesOf = (tool: ToolDefinition): JsonValue => (tool.kind === 'process' ? tool.successes : null)

/** A function with variables from outside could change its behaviour without changing its text. */
const sourceOf = (tool: ToolDefinition, run: (...args: never) => unknown): string => sourceOnHost(tool.name, run)

/** The contents of its own files, without packages. */
export const moduleCode = (tool: string, module: string | URL): JsonValue => {
  const { path, read } = moduleFiles(tool, pathOf(module))
  const files = read.filter((file) => lstatSync(file).isFile() && !file.endsWith('/package.json')).sort()
  return files.map((file) => [
    relative(dirname(path), file),
    createHash('sha256').update(readFileSync(file)).digest('hex'),
  ])
}

const plain = (value: unknown): JsonValue =>
  value === undefined ? null : (JSON.parse(JSON.stringify(value)) as JsonValue)

const cannot = ({ name }: ToolDefinition, problem: string, fix: string): Error =>
  fail('runner-tools-invalid', { path: `the tool "${name}"`, problem: `a runner cannot run it: ${problem}`, fix })
