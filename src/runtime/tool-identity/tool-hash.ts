// What a tool is, as one hash: what the team registered is compared with what a runner has. Everything that decides
// what a call does is in it, except the programs of the host that it starts.
import { createHash } from 'node:crypto'
import { lstatSync, readFileSync } from 'node:fs'
import { dirname, relative } from 'node:path'

import { fail } from '../../errors/index.js'
import { hashOf, isStandardSchema } from '../../gate/index.js'
import type { JsonValue } from '../../gate/index.js'
import { policyHash } from '../../policy/index.js'

import { pathOf, selfContainedSource } from '../tools/function-source.js'
import { moduleFiles } from '../tools/module-files.js'
import type { ToolDefinition } from '../tools/tools.js'

import type { CommandTemplate } from './command-template.js'

/** Raised whenever the same tool would get another hash. */
const FORM = 'cordon-tool/1'

/** `template`: of a tool that is written in a file; of others their functions are looked at. */
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
      }
    case 'function':
      return tool.from.kind === 'function'
        ? { run: sourceOf(tool, tool.from.run) }
        : { module: filesOf(tool.name, pathOf(tool.from.path)), export: tool.from.name }
    case 'in-process':
      throw cannot(tool, 'it would run in the process of the runner, where nothing holds it', 'leave inProcess out')
  }
}

const successesOf = (tool: ToolDefinition): JsonValue => (tool.kind === 'process' ? tool.successes : null)

/** A function that uses something from outside of itself could do something else tomorrow, with the same text. */
const sourceOf = (tool: ToolDefinition, run: (...args: never) => unknown): string => selfContainedSource(tool.name, run)

/** Its own files, by their contents; of packages nothing is known. */
const filesOf = (tool: string, module: string): JsonValue => {
  const { path, read } = moduleFiles(tool, module)
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
