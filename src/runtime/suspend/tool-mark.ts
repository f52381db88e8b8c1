import { hashOf } from '../../gate/index.js'

import type { BoundTool } from '../tools/bound-tool.js'
import type { FunctionSource, ToolDefinition } from '../tools/tools.js'

/** A hash of the tool's code and its place. An approval of a suspended call is only for these. */
export const toolMark = (tool: BoundTool | undefined): string =>
  tool === undefined ? '' : hashOf([tool.definition.kind, tool.workspace, tool.cwd, ...codeOf(tool.definition)])

const codeOf = (definition: ToolDefinition): readonly string[] => {
  switch (definition.kind) {
    case 'process':
      return [
        String(definition.command),
        String(definition.stdin),
        ...(definition.container === undefined ? [] : [JSON.stringify(definition.container)]),
      ]
    case 'in-process':
      return [String(definition.run)]
    case 'mcp':
      return [definition.server.name, definition.name]
    case 'function':
      return codeOfFunction(definition.from)
  }
}

const codeOfFunction = (from: FunctionSource): readonly string[] => {
  switch (from.kind) {
    case 'function':
      return [String(from.run)]
    case 'module':
      return [String(from.path), from.name]
    case 'wasm':
      return [from.hash, ...from.written.map(String)]
  }
}
