export { mcpTool } from './tools.js'
export type { ServerReply, ToolServer } from './tools.js'
