/// <reference types="node" preserve="true" />
export { ANSWER_FIX, createUsedApprovals, parseAnswer, parseGrant } from './approval/approval.js'
export type { ApprovalAnswer, ApprovalGrant, UsedApprovals } from './approval/approval.js'
export type { CallPath } from './arguments/argument-gate.js'
export type { CallInputs, Evaluation, GateCall, Widening } from './call.js'
export { readBoundedJson } from './input/bounded-json.js'
export type { BoundedJson, JsonLimits } from './input/bounded-json.js'
export { readArgv, readCommand } from './commands/command-line.js'
export type { CommandReading } from './commands/command-line.js'
export { parseTextPattern } from './commands/text-pattern.js'
export type { TextPattern } from './commands/text-pattern.js'
export { canonicalJson, hashOf, sizeInSteps, sizeOf } from './input/canonical-json.js'
export type { HashAndSize } from './input/canonical-json.js'
export { createSessionCount, parseConstraints, parseSessionCountState } from './constraints/constraints.js'
export type {
  Constraints,
  ConstraintsInput,
  SessionBudget,
  SessionCount,
  SessionCountState,
} from './constraints/constraints.js'
export { DECISIONS } from './record/permission-decision.js'
export type {
  DecisionKind,
  DecisionSource,
  ExplainedRule,
  ExplainedStep,
  PermissionDecision,
} from './record/permission-decision.js'
export { stringsOf } from './arguments/mark-tree.js'
export type { ListFolder, ResolvePath, ResolvedPath } from './arguments/resolve-path.js'
export { createGate } from './gate.js'
export type { Gate, HookSubject } from './gate.js'
export type { Classifier, ClassifierRequest, GateSettings } from './gate-settings.js'
export { HOOK_POINTS } from './hooks/hook.js'
export type { Hook, HookAnswer, HookEvent, HookPoint, HookReturn } from './hooks/hook.js'
export { takeSnapshot } from './input/json-value.js'
export type { JsonObject, JsonValue, Snapshot } from './input/json-value.js'
export { loadRules, parseRules } from './rules/load-rules.js'
export type { Lock, RuleFileContext, RuleInput, RuleSet, RuleSetInput } from './rules/load-rules.js'
export { MODES, answerOfMode } from './rules/modes.js'
export type { Mode, ModeAnswer, ModeQuestion } from './rules/modes.js'
export { MARK_KEYWORD, commandLine, isStandardSchema, pathRead, pathWrite, text, url } from './input/parameter-marks.js'
export type { JsonSchema, Mark, ParseInput, ParsedInput, StandardSchema } from './input/parameter-marks.js'
export type { PermissionState } from './record/permission-state.js'
export { checkPermit, requirePermit } from './permit/permit.js'
export type { CheckedPermit, Permit, PermitProblem, PermitTerms, PermitUse } from './permit/permit.js'
export { resolveByText } from './arguments/resolve-path.js'
export { openText, sealText } from './permit/sealed-text.js'
export type { OpenedText } from './permit/sealed-text.js'
export { EFFECTS, RULE_SOURCES } from './rules/rule.js'
export type { Effect, Rule, RuleSource } from './rules/rule.js'
export type { HookReport, HookVerdict, Wait } from './hooks/run-hooks.js'
export { usualOutcome } from './judge.js'
export { conditionsOf } from './rules/conditions.js'
export { describeTool } from './tool.js'
export type { DestructiveFacts, GateTool, ToolDeclaration } from './tool.js'
export type { UrlReading, UrlTarget } from './arguments/url-spelling.js'
