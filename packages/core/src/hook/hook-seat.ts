// What answers a hook: the process that the agent started, or the local host for it.
import type { CommandLine } from '../line/caller.js'
import { prepareRun } from '../run/prepare-run.js'
import { openRunLog } from '../run/record.js'
import type { OpenRunLog } from '../run/record.js'
import { parseRun } from '../run/request/run-request.js'
import type { PreparedRun } from '../run/run-gate.js'

/** `line`: of the run that a shell command becomes, or that has the same grants. */
export type PrepareHooked = (
  line: CommandLine,
  mayAsk: boolean,
  kind: Parameters<typeof prepareRun>[3],
) => Promise<PreparedRun>

export interface HookSeat {
  readonly openLog: OpenRunLog
  readonly prepare: PrepareHooked
  /** Throws `NotServed` if one of these paths means something else to the agent than to this process. */
  readonly refuse: (paths: readonly string[]) => void
}

const prepareHooked: PrepareHooked = async (line, mayAsk, kind) =>
  prepareRun(await parseRun(line.given, line), mayAsk, line, kind)

export const OWN_SEAT: HookSeat = { openLog: openRunLog, prepare: prepareHooked, refuse: () => undefined }
