export { MOST_ARGUMENTS, hasGrantsIn, isClient, isScript, listsFolder, lookAt, namesOwn, pathIn, startsClient } from './command-words.js'
