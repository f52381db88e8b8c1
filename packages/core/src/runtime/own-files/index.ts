export { credentialFiles } from './credential-files.js'
export { engineFiles } from './settings-files.js'
export { linksOnTheWay } from './links-on-the-way.js'
export type { OwnFile } from './own-file.js'
export { describeOwnFile, ownFileAt } from './own-file.js'
export { packagesFrom, placeOfPackage } from './packages.js'
export type { InstalledPackage } from './packages.js'
export { programFiles, refuseOwnProgram } from './program-files.js'
export { shieldOwnFiles } from './shield-own-files.js'
export {
  MACHINE_FOLDER,
  configFiles,
  copyFiles,
  namedFiles,
  packageFiles,
  stateFiles,
  userFiles,
} from './settings-files.js'
