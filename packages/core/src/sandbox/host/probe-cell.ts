// A small cell whose tool is the launcher itself: it tries the boundary from inside, and ends.
import type { AbsolutePath, Form } from '../../policy/index.js'

import { openCell } from '../launch/cell.js'
import type { StartedLauncher } from '../launch/cell.js'
import { encodePlan } from '../plan/encode-plan.js'
import { ALL_FRAMES, NOTHING_KEPT } from '../plan/plan.js'
import type { Plan, Rule } from '../plan/plan.js'

/** The exit statuses of the launcher's probe (`enum probe_status` in native/boundary/tool.h). */
export const PROBE_STATUSES = ['held', 'nothing-borrowed', 'memory-unreadable'] as const

export interface ProbeResult {
  /** Of Landlock. 0 without it. */
  readonly abi: number
  readonly status: number
  /** Whether the supervisor sees the processes of the cell. */
  readonly measurable: boolean
}

const at = (path: string) => path as AbsolutePath

export const MINIMAL_RULES: readonly Rule[] = [{ access: 'rx', path: at('/usr') }]

export const probePlan = (form: Form, parts: Partial<Plan>): Plan => ({
  form,
  steps: [],
  rules: MINIMAL_RULES,
  kept: NOTHING_KEPT,
  exec: { kind: 'all' },
  cwd: at('/'),
  cgroup: undefined,
  temporary: at('/tmp'),
  network: 'none',
  limits: { scratch: 1 << 20 },
  traps: [],
  stdio: ALL_FRAMES,
  foreground: false,
  clock: 'start',
  delivery: 'gathered',
  probe: true,
  ...parts,
})

export const runProbe = async (launched: StartedLauncher, plan: Plan): Promise<ProbeResult> => {
  const cell = openCell(launched, encodePlan(plan))
  const { landlock, exit, measurable } = await cell.start(
    { program: at('/'), argv: ['-'], environment: {} },
    undefined,
    { onStdout: ignore, onStderr: ignore },
  )
  return { abi: landlock, status: exit.code, measurable }
}

const ignore = () => undefined

/** From this version on, Landlock keeps signals inside. */
const SIGNALS_ARE_SCOPED = 6

/** Without a pid namespace, Landlock's scope of signals ends all processes of a call, or the supervisor finds them. */
export const endsAllProcesses = ({ abi, measurable }: ProbeResult): boolean => abi >= SIGNALS_ARE_SCOPED || measurable
