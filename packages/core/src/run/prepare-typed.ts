// Reads what decides about a typed run, from its words.
import type { CommandLine } from '../line/caller.js'
import { parseRun } from './request/run-request.js'
import type { RunOrder } from './request/run-request.js'
import { prepareRun } from './prepare-run.js'
import type { PreparedRun } from './run-gate.js'

/** `onOrder` gets what is known so far, in case the rest fails. */
export type PrepareTyped = (
  line: CommandLine,
  isInteractive: boolean,
  onOrder: (order: RunOrder) => void,
) => Promise<PreparedRun>

export const prepareTyped: PrepareTyped = async (line, isInteractive, onOrder) => {
  const parsed = await parseRun(line.given, line)
  onOrder(parsed)
  const manifestFile = line.given.values.get('manifest')?.[0]
  if (manifestFile === undefined) return prepareRun(parsed, isInteractive, line)
  const { order, manifest } = (await import('./hold-run.js')).holdRun(parsed, manifestFile)
  onOrder(order)
  return { ...prepareRun(order, isInteractive, line), manifest }
}
