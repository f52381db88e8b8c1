/// <reference types="node" preserve="true" />
export type { ApprovalRequest, Approve } from './approvals.js'
export { createCordon } from './create-cordon.js'
export type {
  CallOptions,
  CordonOptions,
  HostHook,
  ResumeOptions,
  ResumedCallOptions,
  UnconfinedOptions,
  StreamOptions,
} from './cordon-options.js'
export { defineProject } from './describe/define-project.js'
export type { ProjectOptions } from './describe/define-project.js'
export type { AskedWith } from './call-outcome.js'
export type { Call, Cordon, ModelCall } from './cordon.js'
export type { StreamPart } from './call/call-stream.js'
export type { ListedTool } from './model/list-tools.js'
export { toModel } from './model/to-model.js'
export type { ModelResult } from './model/to-model.js'
export type { StateSettings } from './settings/session-state.js'
export type { TicketSettings } from './suspend/ticket.js'
export type { EgressSummary, ReachedHost, RecordedArguments } from './events/event.js'
export type { UnconfinedProfile } from '../sandbox/index.js'
export type {
  CallFacts,
  CallUsage,
  OtherResult,
  PendingApproval,
  PendingResult,
  RegisteredFacts,
  SucceededResult,
  ToolLog,
  ToolOutput,
  ToolResult,
  ToolStatus,
} from './result/tool-result.js'
export { policyFrom } from './tools/policy-from.js'
export { containerTool, processTool, tool } from './tools/tools.js'
export { wasmTool } from './tools/wasm-tool.js'
export type { FunctionToolOptions, ProcessToolOptions, ToolContext, ToolLogger } from './tools/tool-options.js'
export type { FromSchema, InputSchema } from './tools/schema-type.js'
export type { InputOf, OutputOfTool, ProcessOutput, ToolDefinition } from './tools/tools.js'
export { openAuditLog } from './audit/audit-log.js'
export type { AuditLog, AuditSettings, Durability } from './audit/audit-log.js'
export { anchorOf, auditOwnFiles, listFullFiles } from './audit/audit-files.js'
export type { AuditPlaces } from './audit/audit-files.js'
export { readLine } from './audit/chain.js'
export type { AuditLine, ChainEnd, ReadLine } from './audit/chain.js'
export { createLogReader } from './audit/log-reader.js'
export type { LogLine, LogReader } from './audit/log-reader.js'
export { shieldOwnFiles } from './own-files/index.js'
export type { OwnFile } from './own-files/index.js'
export { verifyAudit } from './audit/verify-audit.js'
export type { AuditProblem, AuditReport } from './audit/verify-audit.js'
export { EVENT_TYPES } from './events/event-parts.js'
export type { EventType } from './events/event-parts.js'
export type { CordonEvent, EventContext, EventDraft, EventOf } from './events/event.js'
export { createEventStream } from './events/event-stream.js'
export type { EventStream, EventStreamSettings, Listener } from './events/event-stream.js'
export { recordArguments } from './events/recorded-arguments.js'
export type { ArgumentSettings } from './events/recorded-arguments.js'
export type { RuleFileSettings } from './rule-files/index.js'
export type { RegistrySource } from './registry/call-registry.js'
