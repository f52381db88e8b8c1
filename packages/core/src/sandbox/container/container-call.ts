// One call in a container: what is asked for, and how it is run there.
import { parseAbsolutePath } from '../../policy/index.js'

import type { CallResult } from '../call-result.js'
import { programNamedIn } from '../grants/program.js'
import type { ReadyCell } from '../launch/ready-cell.js'
import { runIn } from '../launch/run-in-cell.js'
import type { WatchedRun } from '../launch/watched-run.js'
import { ALL_FRAMES } from '../plan/plan.js'
import { withOutputLimit } from '../plan/plan-limits.js'
import { proxyOf } from '../plan/plan-network.js'
import type { CellRequest } from '../plan/planned-cell.js'
import type { CellSettings, RunInput } from '../sandbox-interface.js'

/** A cell in a container has one form, the search path of its image, and no program that starts early. */
export interface ContainerSettings extends Omit<CellSettings, 'form' | 'searchPath' | 'early'> {
  readonly image: string
  /** An OCI runtime of the engine, such as `runsc` (default: the engine's own). */
  readonly runtime?: string
  readonly program: string
}

/** Whether output is kept in memory, where it needs a limit. */
export type Output = 'kept' | 'passed-on'

export interface Job {
  readonly settings: ContainerSettings
  readonly output: Output
  readonly run: (opened: ReadyCell, watched: WatchedRun) => Promise<CallResult>
}

export const keptJob = (settings: ContainerSettings, input: RunInput): Job => ({
  settings,
  output: 'kept',
  run: (opened, watched) =>
    runIn(opened, opened.planned, { settings, input, onStarted: undefined }, watched, undefined),
})

export const requestOf = (settings: ContainerSettings, output: Output): CellRequest => ({
  boundary: output === 'kept' ? withOutputLimit(settings.boundary) : settings.boundary,
  cwd: parseAbsolutePath(settings.cwd, 'cwd'),
  program: programNamedIn([settings.program]),
  searchPath: '',
  hostEnvironment: settings.hostEnvironment ?? {},
  form: 'landlock',
  stdio: ALL_FRAMES,
  foreground: false,
  delivery: 'gathered',
  clock: 'start',
  observe: settings.observe ?? 'changes',
  proxy: proxyOf(settings.boundary, settings.proxy),
})
