/// <reference types="node" preserve="true" />
export { describeEnding, interrupted, resultOfInterrupted } from './call-result.js'
export type { CallRecord, CallResult, Ending, ProcessResult, Usage } from './call-result.js'
export { openContainers } from './container/containers.js'
export { engineSockets, trySockets } from './container/find-engine.js'
export type { SilentSocket } from './container/find-engine.js'
export type { ContainerOptions, Containers } from './container/containers.js'
export type { ContainerSettings } from './container/containers.js'
export { futurePathOf, surveyCarveOuts } from './grants/carve-outs.js'
export type { CallNetwork } from './launch/doors.js'
export { beyondPermit } from './result/applied-profile.js'
export type { AppliedProfile } from './result/applied-profile.js'
export { isHabit } from './result/habits.js'
export type { Attempt, HostFacts } from './plan/host-facts.js'
export { FROM_FRONT, TO_FRONT, createFrameReader, encodeFrame } from './frames.js'
export type { FrameToFront } from './frames.js'
export { findLauncher } from './host/launcher.js'
export { mountsIn } from './grants/mountinfo.js'
export { openHostDoor } from './host/host-door.js'
export { runOnHost, startAlone } from './host/host-command.js'
export type { HostCommandOutcome } from './host/host-command.js'
export { runPlainProcess } from './host/plain-process.js'

export type { BackendName, Form, WallName } from '../policy/index.js'
export { tryWall } from './host/try-wall.js'
export type { Observing } from './plan/planned-cell.js'

export type { EnforcedBy, UnconfinedProfile, SandboxProfile } from './plan/sandbox-profile.js'
export type { CellConnection } from './launch/cell.js'
export { openSandbox, requireLauncher } from './sandbox.js'
export type {
  AttachedControl,
  AttachedInput,
  AttachedRequest,
  CellSettings,
  OpenProgram,
  Pool,
  RunInput,
  RunRequest,
  Sandbox,
  SandboxOptions,
} from './sandbox-interface.js'
export { SYSTEM_PATH, findProgram, lookUp } from './grants/program.js'
export { folderAround, startNeedsOf } from './result/start-needs.js'
export type { StartContext, StartNeeds } from './result/start-needs.js'
export { isKernelView, surveyGrants, unmatchedReads } from './grants/survey.js'
export { unsetVariables } from './plan/environment.js'
export { LIMIT_KINDS, MOST_VIOLATIONS_TOLD, describeViolation, isIntrusion, isLookup } from './result/violations.js'
export type { LimitKind, ReachedLimit, RefusedOpen, SocketAddress, Violation } from './result/violations.js'
