export { projectShape } from './define-project.js'
export type { ProjectOptions } from './define-project.js'
export { describeAgent } from './describe-agent.js'
export type { LoadRequest } from './load-entries.js'
