import { fail } from '../errors/index.js'
import type { AbsolutePath, Boundary } from '../policy/index.js'
import { parseAbsolutePath } from '../policy/index.js'

import { openCell } from './cell.js'
import type { Cell } from './cell.js'
import { collect, describeEnd } from './call-result.js'
import type { CallResult } from './call-result.js'
import { refuseMissingMechanisms } from './requirements.js'
import { probeHost } from './host.js'
import type { HostFacts } from './host.js'
import { findLauncher } from './launcher.js'
import { startNursery } from './nursery.js'
import { chooseForm, planCell } from './plan-cell.js'
import type { PlannedCell } from './plan-cell.js'
import type { Form } from './plan.js'
import { createPool } from './pool.js'
import type { Pool } from './pool.js'
import { findProtectedPlaces } from './protected-places.js'
import { SYSTEM_PATH } from './program.js'
import { viewPresets } from './system-view.js'
import type { SystemView } from './system-view.js'

export interface SandboxOptions {
  /** `auto` takes the strongest form that this host holds. */
  readonly form?: Form | 'auto'
  readonly launcher?: string
}

export interface CellSettings {
  readonly boundary: Boundary
  readonly cwd: string
  /** Where `environment` entries without a value are taken from. Nothing of it is passed otherwise. */
  readonly hostEnvironment?: Readonly<Record<string, string>>
  /** Where a program given by its name is looked up. */
  readonly searchPath?: string
  readonly form?: Form | 'auto'
  readonly observe?: boolean
}

export interface RunRequest extends CellSettings, RunInput {}

export interface RunInput {
  readonly argv: readonly string[]
  readonly stdin?: string | Uint8Array
  readonly signal?: AbortSignal
  readonly onStdout?: (bytes: Uint8Array) => void
  readonly onStderr?: (bytes: Uint8Array) => void
}

export interface Sandbox {
  readonly host: HostFacts
  readonly run: (request: RunRequest) => Promise<CallResult>
  /** Holds the next cells of one program ready: boundary applied, waiting for arguments. */
  readonly warm: (settings: CellSettings & { readonly program: string }) => Pool
  readonly close: () => Promise<void>
}

const DEFAULT_OUTPUT_LIMIT = 64 * 1024 * 1024

export const openSandbox = async (options: SandboxOptions = {}): Promise<Sandbox> => {
  const launcher = options.launcher ?? findLauncher()
  const [nursery, host] = await Promise.all([startNursery(launcher), probeHost(launcher)])
  const pools = new Set<Pool>()
  const views = new Map<string, SystemView>()
  let closed = false

  const viewOf = (boundary: Boundary): SystemView => {
    const key = boundary.presetRead.map(({ path }) => path).join('\n')
    const view = views.get(key) ?? viewPresets(boundary.presetRead)
    views.set(key, view)
    return view
  }
  const plan = (settings: CellSettings, program: string): PlannedCell => {
    if (closed) throw fail('sandbox-closed', { what: 'sandbox' })
    const form = chooseForm(settings.form ?? options.form ?? 'auto', host)
    const boundary = withOutputLimit(settings.boundary)
    refuseMissingMechanisms(boundary.require, form, host)
    const cwd: AbsolutePath = parseAbsolutePath(settings.cwd, 'cwd')
    const request = {
      boundary,
      cwd,
      program,
      searchPath: settings.searchPath ?? SYSTEM_PATH,
      hostEnvironment: settings.hostEnvironment ?? {},
      form,
      stdio: 'frames',
      terminal: false,
      observe: settings.observe ?? false,
    } as const
    return planCell(request, host, viewOf(boundary), findProtectedPlaces(boundary))
  }
  const open = (planned: PlannedCell): Cell => openCell(nursery.connect(), planned.plan)

  return {
    host,
    run: async (request) => {
      const planned = plan(request, programOf(request.argv))
      return runIn(open(planned), planned, request)
    },
    warm: (settings) => {
      const planned = plan(settings, settings.program)
      const pool = createPool(() => open(planned), (cell, input) => runIn(cell, planned, input), () => pools.delete(pool))
      pools.add(pool)
      return pool
    },
    close: async () => {
      closed = true
      for (const pool of pools) pool.close()
      nursery.close()
      await Promise.resolve()
    },
  }
}

const withOutputLimit = (boundary: Boundary): Boundary =>
  boundary.limits.output === undefined ? { ...boundary, limits: { ...boundary.limits, output: DEFAULT_OUTPUT_LIMIT } } : boundary

const programOf = (argv: readonly string[]): string => {
  const [program] = argv
  if (program === undefined || program === '') throw fail('usage-error', { problem: 'an empty command', fix: 'give a program and its arguments' })
  return program
}

const runIn = async (cell: Cell, planned: PlannedCell, input: RunInput): Promise<CallResult> => {
  const stdout = collect(input.onStdout)
  const stderr = collect(input.onStderr)
  const { signal } = input
  const refuseCancelled = () => {
    if (signal?.aborted === true) throw fail('cancelled', {}, signal.reason)
  }
  const abort = () => {
    cell.kill()
  }
  signal?.addEventListener('abort', abort, { once: true })
  try {
    refuseCancelled()
    const { program, environment } = planned
    const end = await cell.start({ program: program.path, argv: input.argv, environment }, bytesOf(input.stdin), { onStdout: stdout.take, onStderr: stderr.take })
    refuseCancelled()
    return describeEnd(end, planned.profile, stdout.bytes(), stderr.bytes())
  } finally {
    signal?.removeEventListener('abort', abort)
    cell.discard()
  }
}

const bytesOf = (stdin: string | Uint8Array | undefined): Uint8Array => (typeof stdin === 'string' ? Buffer.from(stdin) : (stdin ?? new Uint8Array()))
