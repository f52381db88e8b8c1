// One hash of the code of a tool, whatever its layout. Unlike toolHash, it is the same for a function that TypeScript
// compiled and for one whose types Node removed.
import { parse } from 'acorn'

import { CordonError } from '../../errors/index.js'
import { hashOf } from '../../gate/index.js'
import type { JsonValue } from '../../gate/index.js'

import type { ToolDefinition } from '../tools/tools.js'

import { codeOf } from './tool-code.js'

/** Undefined if the code is not known: it uses variables of its module, or is not in this process. */
export const codeHash = (tool: ToolDefinition): string | undefined => {
  try {
    return hashOf(codeOf(tool, treeOf))
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
