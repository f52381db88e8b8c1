/// <reference types="node" preserve="true" />
export { describeSelf, isDead } from './liveness.js'
export { PLATFORM } from './this-platform.js'
export { replaceFile } from './replace-file.js'
