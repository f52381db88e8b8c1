/// <reference types="node" preserve="true" />
export { openDirectAccess, openRegistry, followGrowth } from './open-registry.js'
export type {
  StoreAccess,
  Caller,
  Registry,
  Following,
  MarkedAnswer,
  Turn,
  GrowthReader,
  GrowthNews,
} from './open-registry.js'
export { watchChanges, watchInvocations } from './changes/changes.js'
export type { Changes, InvocationWatch, Waiting } from './changes/changes.js'
export {
  newSealingKey,
  openCredential,
  parseSealingKey,
  resolveCredential,
  sealCredential,
} from './registry/credentials.js'
export type { SealedCredential } from './registry/credentials.js'
export { orClose, speakingAs } from './engine.js'
export type { Engine, Queryable, Session, Role, Speaker } from './engine.js'
export { INVOCATION_STATES, RUN_STATES, isFinal } from './registry/call-answers.js'
export type {
  Explanation,
  FinalStatus,
  Invocation,
  InvocationStatus,
  ListedQuestion,
  ShownQuestion,
  ShownRun,
  TeamRun,
  Vote,
} from './registry/call-answers.js'
export type { QuestionFilter, StandingApproval } from './registry/approvals.js'
export type { RunRequest } from './registry/team-runs.js'
export { AUTH_METHODS, MEMBER_KINDS, NOTHING, PRICED_UNITS } from './registry/team-answers.js'
export type { MemberKind, RegisteredTool, StoredCredential } from './registry/team-answers.js'
export {
  beginInvocation,
  cancelInvocation,
  completeInvocation,
  invokeTool,
  requireInvocation,
} from './registry/invocations.js'
export type { Completion, InvocationRequest } from './registry/invocations.js'
export { LONGEST_CHUNK, appendOutput, watchOutput } from './changes/live-output.js'
export type { OutputChunk, OutputStream, OutputWatch } from './changes/live-output.js'
export { migrate, requirePrepared } from './engine/migrate.js'
export type { Migration } from './engine/migrate.js'
export { OPERATION_NAMES, operationOf } from './operations/index.js'
export type { AnswerOf, AnyOperation, RequestFields, RequestOf, OperationName } from './operations/index.js'
export { readFields } from './operations/field.js'
export type { JsonOf } from './operations/operation.js'
export { openPglite } from './engine/pglite-engine.js'
export type { PgliteSettings } from './engine/pglite-engine.js'
export { openPostgres } from './engine/postgres-engine.js'
export type { PostgresLimits, PostgresSettings } from './engine/postgres-engine.js'
export { addMember, assignTool, listTools, registerTool, requireTool } from './registry/registry.js'
export type { ToolRegistration } from './registry/registry.js'
export { hasQueue, installQueue, openQueue } from './changes/queue.js'
export type { Queue, QueueSettings } from './changes/queue.js'
export { openRemoteAccess } from './remote-access.js'
export type { ServerSettings } from './remote-access.js'
export {
  claimInvocations,
  findClaimed,
  maintainRegistry,
  listRunnableTools,
  sendHeartbeat,
} from './registry/runners.js'
export type { RunnableTool, RunnerFacts, Upkeep } from './registry/runners.js'
export { authenticate, countTokens } from './registry/tokens.js'
export type { TokenHolder } from './registry/tokens.js'
