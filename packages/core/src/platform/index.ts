/// <reference types="node" preserve="true" />
export {
  ifSeen,
  isLink,
  jsonOfFile,
  linkStatusAt,
  namesInFolder,
  readOrdinaryFile,
  readLink,
  realPathOf,
  realPlaceOf,
  statusAt,
  textOfFile,
} from './at-path.js'
export {
  NotOrdinary,
  accessSync,
  areChangesNoticed,
  createMemory,
  existsSync,
  lookOnce,
  lstatSync,
  noticeChanges,
  openSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  statSync,
} from './look.js'
export { describeSelf, isDead, isRunning, takeLock, tryLock } from './lock.js'
export type { BusyLock } from './lock.js'
export { quotedWord, shellWord, unquotedWord } from './shell-word.js'
export { PACKAGE_FOLDER, makeFolders, packageFolderOf } from './folders.js'
export { frontsIn, ownFront } from './native-front.js'
export { NAMES_AROUND, isCheckout, placesAround } from './packages-around.js'
export { leadsThroughProcess } from './process-paths.js'
export { PLATFORM } from './platform.js'
export type { ReplaceOptions } from './replace-file.js'
export { replaceFile } from './replace-file.js'
