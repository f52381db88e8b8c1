export { fixOfFailure } from './failure-fix.js'
export { isOfImage } from './image-path.js'
export { policyAdvice, policyLines } from './policy-lines.js'
export {
  MOST_ARGUMENTS,
  hasGrantsIn,
  isClient,
  isScript,
  listsFolder,
  lookAt,
  namesOwn,
  pathIn,
  startsClient,
} from './command-words.js'
