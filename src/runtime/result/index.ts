export { toolFailed } from './agent-words.js'
export { judgeEnding } from './judge-ending.js'
