export { answerLocally } from './approvals/approvals.js'
export { flag, unknownAction, usage, value, values } from '../line/arguments.js'
export type { Arguments, Option } from '../line/arguments.js'
export type { Environment } from '../line/arguments.js'
export { ownCaller } from '../line/caller.js'
export type { CommandLine } from '../line/caller.js'
export { EXIT_REFUSED, reportFailure, reportLines, reportRefusal } from '../line/failure.js'
export type { CommandHelp } from '../line/help.js'
export { FAILURES, reportBrokenPipe, keepCursor, readCursor, writeExported } from '../records/index.js'
export type { ExportSettings, ExportedEntry } from '../records/index.js'
export { exportSettings, sinceOf } from './log/log.js'
export { action } from '../products/product.js'
export { loadProduct, loadProductIfAny } from '../products/installed-products.js'
export type { CommandAction, CommandSource, DescribedProject, Product } from '../products/product.js'
export { claudeCodeEntry, commandWords, installedCommand, ownProgram } from '../hook/installed-command.js'
export type { ClaudeCodeEntry } from '../hook/installed-command.js'
export { copyProgram } from '../hook/program/copy-program.js'
export { wayOutOfGrants } from '../hook/program/program-facts.js'
export { SHARED_LAUNCHER, launcherOf } from '../hook/program/copy-program.js'
export type { Launch } from '../run/attached-runner.js'
export { launchInCell } from '../run/launch-in-cell.js'
export { openOutput } from '../run/output-sink.js'
export { performRunIn } from '../run/perform-run.js'
export { prepareRun } from '../run/prepare-run.js'
export { openRunLog, recordSettingsOf } from '../run/record.js'
export { CELL, EGRESS, GRANTS, LIMITING } from '../run/request/run-options.js'
export { parseRun } from '../run/request/run-request.js'
export type { RunOrder } from '../run/request/run-request.js'
export type { PreparedRun } from '../run/run-gate.js'
export { isInteractive } from '../run/terminal/interactive.js'
export { openDialog } from '../run/terminal/terminal-dialog.js'
export { explainViolations } from '../run/text/explain.js'
export { hintsOnFailure } from '../run/text/hints.js'
export { adviseOnStart } from '../run/text/start-advice.js'
export { combinePolicies } from '../settings/combine-policies.js'
export { readEgress } from '../settings/egress-order.js'
export type { EgressOrder } from '../settings/egress-order.js'
export { parseJson, withJsonValue } from '../settings/json-text.js'
export { keepKeyOf, projectKeyIn, requireKeptKey, requireKeyOf } from '../settings/manifest-key.js'
export type { ProjectKey } from '../settings/manifest-key.js'
export { ownFilesOf, readOnly, withheld } from '../settings/own-files.js'
export {
  auditPathOf,
  configFolderOf,
  consentFolderOf,
  dataFolderOf,
  homeOf,
  serverPackagesFolderOf,
  remotesFolderOf,
  stateFolderOf,
} from '../settings/own-folders.js'
export { isVouchedFor } from '../settings/policy-sources.js'
export type { PolicyPlaces } from '../settings/policy-sources.js'
export { backupBeside, copyNew, readSettingsFile, writeSettingsFile } from '../settings/settings-file.js'
export { steersPrograms } from '../settings/steering-variables.js'
export { STDERR, STDOUT, jsonLine, oneLine, paintFor, writeFully, writeText } from '../line/text/console-text.js'
export type { Paint } from '../line/text/console-text.js'
export { counted } from '../line/text/console-text.js'
export { readGivenDocument } from '../line/text/given-document.js'
export { idAmong } from '../line/text/named-id.js'
export { shellWord as asWord } from '../platform/index.js'
export {
  ageOf,
  renderFacts,
  renderHash,
  renderQuoted,
  renderSpan,
  renderTable,
  renderWindow,
} from '../line/text/table-text.js'
export type { Fact } from '../line/text/table-text.js'
export { parseDays, parseSpan } from '../line/text/time-words.js'
export { renderDuration, renderUsage } from '../line/text/usage-text.js'
export { version } from '../line/text/version.js'
export { visible, visibleWord, wrapText } from '../line/text/visible-text.js'
