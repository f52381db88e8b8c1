/// <reference types="node" preserve="true" />
export { makeFolders } from './make-folders.js'
export { describeSelf, isDead } from './liveness.js'
export { takeLock, tryLock } from './lock.js'
export type { BusyLock } from './lock.js'
export { quotedWord, shellWord, unquotedWord } from './shell-word.js'
export { PACKAGE_FOLDER, packageFolderOf } from './package-folder.js'
export { PLATFORM } from './this-platform.js'
export { linkTarget, replaceFile } from './replace-file.js'
