// Parts of the runtime for the packages around the core. ARCHITECTURE.md says which contracts these share with it.
export {
  bodyBytes,
  guardRequest,
  isLoopbackHost,
  listenOnAddress,
  parseListenAddress,
  renderAddress,
  requireEncrypted,
  requireSafe,
} from '../door/index.js'
export type { Door, ListenAddress } from '../door/index.js'
export {
  PACKAGE_FOLDER,
  PLATFORM,
  isLink,
  jsonOfFile,
  makeFolders,
  packageFolderOf,
  quotedWord,
  readOrdinaryFile,
  realPathOf,
  replaceFile,
  shellWord,
  takeLock,
  textOfFile,
  tryLock,
} from '../platform/index.js'
export type { AuditLog } from './audit/index.js'
export type { CordonOptions } from './cordon-options.js'
export type { Cordon } from './cordon.js'
export { openCordon } from './create-cordon.js'
export { describeAgent, projectShape } from './describe/index.js'
export type { LoadRequest, ProjectOptions } from './describe/index.js'
export { processUsage } from './events/process-ending.js'
export { REVIEW, manifestReference, readManifestOption } from './held/index.js'
export type { GivenManifest } from './held/index.js'
export { namedPaths, policyLines } from './hints/index.js'
export { sourcesOf } from './network/egress-options.js'
export { secretHostOf } from './network/index.js'
export { packagesFrom, refuseOwnProgram } from './own-files/index.js'
export type { OwnFile } from './own-files/index.js'
export type { AskedWith } from './call-outcome.js'
export type {
  CallRegistry,
  Elsewhere,
  EndedRun,
  RegistryDecision,
  RegistryEntry,
  RegistrySource,
  RemoteListening,
} from './registry/call-registry.js'
export { mechanismsHere } from './registry/host-mechanisms.js'
export { aCount, aText, mapping, optionPlace, unshown } from './option-checks.js'
export { toolFailed } from './result/agent-words.js'
export { PROGRESS_LIMITS } from './result/result-limits.js'
export type { ToolStatus } from './result/tool-result.js'
export { PROJECT_FOLDER, loadBounds, projectFolders, readRuleFile, ruleFilesIn, trustOf } from './rule-files/index.js'
export type { Trust } from './rule-files/index.js'
export { cannotRun, codeOfTool } from './tool-identity/tool-code.js'
export { bindTool } from './tools/bound-tool.js'
export { requirePortable, sourceOnHost } from './tools/function-source.js'
export { mcpTool, processTool } from './tools/tools.js'
export type { ServerInstance, ServerReply, ToolDefinition, ToolServer } from './tools/tools.js'
