// The code of a tool as a value to hash.
import { createHash } from 'node:crypto'
import { lstatSync, readFileSync } from 'node:fs'
import { dirname, relative } from 'node:path'

import { parse } from 'acorn'

import { CordonError, fail } from '../../errors/index.js'
import { hashOf } from '../../gate/index.js'
import type { JsonValue } from '../../gate/index.js'

import { pathOf, selfContainedSource, sourceOnHost } from '../tools/function-source.js'
import { moduleFiles } from '../tools/module-files.js'
import type { FunctionSource, ToolContainer, ToolDefinition } from '../tools/tools.js'

/** `valueOf`: what counts of the source of a function. */
export const codeOfTool = (tool: ToolDefinition, valueOf: (source: string) => JsonValue): JsonValue => {
  switch (tool.kind) {
    case 'process':
      return {
        command: valueOf(sourceOnHost(tool.name, tool.command)),
        stdin: tool.stdin === undefined ? null : valueOf(sourceOnHost(tool.name, tool.stdin)),
        successes: tool.successes,
        ...containerOf(tool.container),
      }
    case 'function':
      return codeOfFunction(tool.name, tool.from, valueOf)
    case 'mcp':
      throw cannotRun(tool, 'its server runs behind a gateway', 'register the server as a process tool')
    case 'in-process':
      throw cannotRun(tool, 'it would run in the process of the runner, where nothing holds it', 'leave inProcess out')
  }
}

/** The image by its name: a tag may mean another image later. */
const containerOf = (container: ToolContainer | undefined): Readonly<Record<string, JsonValue>> =>
  container === undefined ? {} : { container: [container.image, container.runtime ?? null] }

const codeOfFunction = (tool: string, from: FunctionSource, valueOf: (source: string) => JsonValue): JsonValue => {
  switch (from.kind) {
    case 'function':
      return { run: valueOf(selfContainedSource(tool, from.run)) }
    case 'module':
      return { module: moduleCode(tool, from.path), export: from.name }
    case 'wasm':
      return {
        wasm: from.hash,
        words: from.written.map((each) => (each === undefined ? null : valueOf(sourceOnHost(tool, each)))),
        successes: from.successes,
      }
  }
}

/** The contents of its own files, without packages. */
const moduleCode = (tool: string, module: string | URL): JsonValue => {
  const { path, read } = moduleFiles(tool, pathOf(module))
  const files = read.filter((file) => lstatSync(file).isFile() && !file.endsWith('/package.json')).sort()
  return files.map((file) => [
    relative(dirname(path), file),
    createHash('sha256').update(readFileSync(file)).digest('hex'),
  ])
}

export const cannotRun = ({ name }: ToolDefinition, problem: string, fix: string): Error =>
  fail('runner-tools-invalid', { path: `the tool "${name}"`, problem: `a runner cannot run it: ${problem}`, fix })

/**
 * One hash of the code of a tool, whatever its layout. Unlike toolHash, it is the same for a function that TypeScript
 * compiled and for one whose types Node removed. Undefined if the code is not known: it uses variables of its module,
 * or is not in this process.
 */
export const codeHash = (tool: ToolDefinition): string | undefined => {
  try {
    return hashOf(codeOfTool(tool, treeOf))
  } catch (error) {
    if (error instanceof CordonError) return undefined
    throw error
  }
}

/** The syntax tree without positions and spellings. Layout, comments and semicolons are not in it. */
const treeOf = (source: string): JsonValue =>
  JSON.parse(
    JSON.stringify(parse(`(${source})`, { ecmaVersion: 'latest', sourceType: 'script' }), withoutLayout),
  ) as JsonValue

function withoutLayout(this: unknown, key: string, value: unknown): unknown {
  if (key === 'start' || key === 'end') return undefined
  // The value says the same. The raw text of a template is another value.
  if (key === 'raw' && (this as { readonly type?: unknown }).type === 'Literal') return undefined
  return typeof value === 'bigint' ? String(value) : value
}
