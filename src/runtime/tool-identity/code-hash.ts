// One hash of the code of a tool, whatever its layout. Unlike toolHash, it is the same for a function that TypeScript
// compiled and for one whose types Node removed.
import { createHash } from 'node:crypto'

import { parse } from 'acorn'

import { CordonError } from '../../errors/index.js'
import { hashOf } from '../../gate/index.js'
import type { JsonValue } from '../../gate/index.js'

import { selfContainedSource, sourceOnHost } from '../tools/function-source.js'
import type { FunctionSource, ToolDefinition } from '../tools/tools.js'

import { containerOf, moduleCode } from './tool-hash.js'

/** Undefined if the code is not known: it uses variables of its module, or is not in this process. */
export const codeHash = (tool: ToolDefinition): string | undefined => {
  try {
    const code = codeOf(tool)
    return code === undefined ? undefined : hashOf(code)
  } catch (error) {
    if (error instanceof CordonError) return undefined
    throw error
  }
}

const codeOf = (tool: ToolDefinition): JsonValue | undefined => {
  switch (tool.kind) {
    case 'process':
      return {
        command: treeOf(sourceOnHost(tool.name, tool.command)),
        stdin: tool.stdin === undefined ? null : treeOf(sourceOnHost(tool.name, tool.stdin)),
        successes: tool.successes,
        ...containerOf(tool.container),
      }
    case 'function':
      return codeOfFunction(tool.name, tool.from)
    case 'mcp':
    case 'in-process':
      return undefined
  }
}

const codeOfFunction = (tool: string, from: FunctionSource): JsonValue => {
  switch (from.kind) {
    case 'function':
      return { run: treeOf(selfContainedSource(tool, from.run)) }
    case 'module':
      return { module: moduleCode(tool, from.path), export: from.name }
    case 'wasm':
      return {
        wasm: createHash('sha256').update(from.bytes).digest('hex'),
        words: from.written.map((each) => (each === undefined ? null : treeOf(sourceOnHost(tool, each)))),
        successes: from.successes,
      }
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
