export { usageOf } from './operator-facts.js'
export type { BeforeStart, CallServices, CallTool, ToolRunner } from './call-services.js'
export { performCall } from './life-of-a-call.js'
export type { EndedCall } from './life-of-a-call.js'
