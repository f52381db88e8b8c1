// What this host can enforce, found out by building cells.
import { arch, tmpdir } from 'node:os'

import { CordonError } from '../errors/index.js'
import { PLATFORM } from '../platform/index.js'
import { LIMIT_NAMES, WALLS, parseAbsolutePath, parsePolicy, resolvePolicy } from '../policy/index.js'
import type { Limits } from '../policy/index.js'
import { describeEnding, openSandbox, tryWall } from '../sandbox/index.js'
import type { BackendName, Form, HostFacts, Sandbox, WallName } from '../sandbox/index.js'

import type { Variables } from './container.js'
import { diagnose } from './diagnose.js'
import { DEFAULT_PROCESSES } from './diagnosis.js'
import type { FormDiagnosis, HostDiagnosis, WallDiagnosis } from './diagnosis.js'
import { readHostSettings } from './host-settings.js'

/** Builds test cells. `environment`: its PATH, and the variables that tell a container. */
export const examineHost = async (environment: Variables): Promise<HostDiagnosis> => {
  const settings = readHostSettings(environment)
  const { PATH: searchPath = '' } = environment
  const host = {
    system: PLATFORM.label,
    kernel: settings.kernel,
    architecture: arch(),
    node: process.version,
    user: settings.isRoot ? 'root' : 'ordinary',
    container: settings.container ?? null,
  } as const
  if (PLATFORM.name === 'darwin') return examineMac(host)
  let sandbox: Sandbox
  try {
    sandbox = await openSandbox({ nursery: 'none' })
  } catch (error) {
    if (!(error instanceof CordonError)) throw error
    const compiler = settings.hasCompiler || error.code !== 'launcher-missing' ? '' : '; there is no C compiler here'
    const because = `${error.message}${compiler}`
    const finding = { what: 'the launcher', because, fix: error.fix ?? 'run npm run build' }
    return { ...withoutCells(host), why: error.message, findings: [finding] }
  }
  try {
    const forms = {
      namespaces: await tryForm(sandbox, 'namespaces', searchPath),
      landlock: await tryForm(sandbox, 'landlock', searchPath),
      mounts: await tryForm(sandbox, 'mounts', searchPath),
    }
    const { wall } = sandbox.strongest
    const form = forms.namespaces.held ? 'namespaces' : forms.landlock.held || wall !== undefined ? 'landlock' : null
    const { namespaces, ownProc, landlock, mounts, listener, cgroup } = sandbox.host
    return {
      holds: form !== null,
      host,
      backend: form === null ? null : (wall?.name ?? 'native'),
      form,
      why: wall === undefined ? reasonFor(form, forms) : reasonForWall(wall.name, forms),
      forms,
      walls: await Promise.all(WALLS.map((name) => examineWall(name, sandbox.host))),
      mechanisms: { namespaces, own_proc: ownProc, landlock, mounts, seccomp_listener: listener, cgroup },
      findings: diagnose(sandbox.host, settings),
    }
  } finally {
    await sandbox.close()
  }
}

const withoutCells = (host: HostDiagnosis['host']) => ({
  holds: false,
  host,
  backend: null,
  form: null,
  forms: null,
  walls: [],
  mechanisms: null,
})

const reasonForWall = (wall: BackendName, { namespaces }: Readonly<Record<Form, FormDiagnosis>>): string =>
  `the launcher itself gets no namespaces (${namespaces.problem ?? ''}); ${wall} makes them around it`

/** With the facts of the host that are known already, so that it is not probed once more for each wall. */
const examineWall = async (backend: WallName, host: HostFacts): Promise<WallDiagnosis> => {
  const tried = await tryWall(backend, host.launcher, host)
  return { backend, held: tried.held, problem: tried.held ? null : tried.reason }
}

const reasonFor = (
  form: Form | null,
  { namespaces, landlock, mounts }: Readonly<Record<Form, FormDiagnosis>>,
): string => {
  if (form === 'namespaces') return 'the strongest form; a test cell of it ran'
  if (form === 'landlock')
    return `this host refuses namespaces (${namespaces.problem ?? ''}); a test cell with Landlock and seccomp ran`
  const problems = `namespaces: ${namespaces.problem ?? ''}; landlock: ${landlock.problem ?? ''}`
  return mounts.held
    ? `a test cell without Landlock ran, which Cordon builds only if you ask for it: --form mounts; ${problems}`
    : `no form of the cell works here: ${problems}; mounts: ${mounts.problem ?? ''}`
}

interface Demands {
  readonly exec?: 'none'
  readonly limits: Readonly<Partial<Record<keyof Limits, string | number>>>
}

/** Everything a policy can ask for, so that the table shows what enforces it. */
const EVERYTHING: Demands & { readonly limits: Required<Demands['limits']> } = {
  exec: 'none',
  limits: {
    memory: '512M',
    processes: 64,
    cpu: '1m',
    wall: '1m',
    output: '1M',
    openFiles: 256,
    fileSize: '1M',
    scratch: '1M',
  },
}

/** The demands without the refused one. Undefined if the host refused something else. */
const withoutRefused = ({ exec, limits }: Demands, { code, params }: CordonError): Demands | undefined => {
  if (code === 'host-cannot-hold' && params['mechanism'] === 'exec' && exec !== undefined) return { limits }
  const refused = LIMIT_NAMES.find((name) => name === params['limit'])
  if (code !== 'limit-unsupported' || refused === undefined || limits[refused] === undefined) return undefined
  const { [refused]: _, ...others } = limits
  return { ...(exec === undefined ? {} : { exec }), limits: others }
}

/** Runs a program in a real cell: the table shows facts, not conclusions. */
const tryForm = async (
  sandbox: Sandbox,
  form: Form,
  searchPath: string,
  demands: Demands = EVERYTHING,
): Promise<FormDiagnosis> => {
  const cwd = parseAbsolutePath(tmpdir(), 'the temporary folder')
  try {
    const run = (wanted: Partial<Demands>) =>
      sandbox.run({
        boundary: resolvePolicy(parsePolicy(wanted, 'cordon doctor'), { workspace: cwd, home: cwd, kind: 'process' }),
        cwd: '/',
        form,
        searchPath,
        argv: ['true'],
      })
    const result = await run(demands)
    const held = result.status === 'exited' && result.exitCode === 0
    if (!held)
      return {
        held,
        problem: `a program that does nothing ended with ${describeEnding(result)}`,
        enforced: result.profile.enforced,
      }
    const { 'limits.processes': byDefault = [] } = (await run({})).profile.enforced
    return { held, problem: null, enforced: { ...result.profile.enforced, [DEFAULT_PROCESSES]: byDefault } }
  } catch (error) {
    if (!(error instanceof CordonError)) throw error
    const less = withoutRefused(demands, error)
    return less === undefined
      ? { held: false, problem: error.message, enforced: null }
      : tryForm(sandbox, form, searchPath, less)
  }
}

const WITHOUT_CELLS =
  'in-process tools, the gate, rules, approvals, the registry, the audit log and the proxy work without it'

/** Whether the experimental Seatbelt backend passes its self-test on this Mac. */
const examineMac = async (host: HostDiagnosis['host']): Promise<HostDiagnosis> => {
  const native = {
    what: 'cells of the launcher',
    because: `namespaces, Landlock and seccomp are mechanisms of Linux; ${WITHOUT_CELLS}`,
    fix: 'run the tools on a Linux host, or in a virtual machine with Linux',
  }
  try {
    const sandbox = await openSandbox({ backend: 'seatbelt' })
    await sandbox.close()
    return {
      ...withoutCells(host),
      holds: true,
      backend: 'seatbelt',
      why: 'experimental; its attacks on this Mac were refused (docs/macos.md says what is not held)',
      findings: [native],
    }
  } catch (error) {
    if (!(error instanceof CordonError)) throw error
    const seatbelt = {
      what: 'the experimental Seatbelt backend',
      because: error.message,
      fix: error.fix ?? 'see docs/macos.md',
    }
    return { ...withoutCells(host), why: error.message, findings: [native, seatbelt] }
  }
}
