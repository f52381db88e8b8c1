export { requirePortable } from './function-source.js'
export { mcpTool } from './tools.js'
export type { ServerReply, ToolServer } from './tools.js'
