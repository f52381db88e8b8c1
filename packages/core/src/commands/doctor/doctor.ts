// `cordon doctor`: what this host can enforce, and how to enable more.
import { arch, tmpdir } from 'node:os'

import { CordonError } from '../../errors/index.js'
import { LIMIT_NAMES, parseAbsolutePath, parsePolicy, resolvePolicy, WALLS } from '../../policy/index.js'
import type { Limits } from '../../policy/index.js'
import { PLATFORM } from '../../platform/index.js'
import { describeEnding, openSandbox, tryWall } from '../../sandbox/index.js'
import type { BackendName, Form, HostFacts, Sandbox, WallName } from '../../sandbox/index.js'

import { usage } from '../../line/arguments.js'
import type { CommandLine } from '../../line/command-line.js'
import { STDOUT, paintFor, writeText } from '../../line/text/console-text.js'
import { diagnose } from './diagnose.js'
import { examineEngine } from './container-engine.js'
import { examineHooks } from './agent-hooks.js'
import type { Diagnosis, Examined, FormDiagnosis, WallDiagnosis } from './diagnosis.js'
import { DEFAULT_PROCESSES, renderDiagnosis } from './doctor-table.js'
import { examineMac } from './on-macos.js'
import { readHostSettings } from './host-settings.js'
import type { HostSettings } from './host-settings.js'

export const doctor = async ({ given, environment }: CommandLine): Promise<number> => {
  if (given.rest.length > 0) throw usage(`doctor takes options only: ${given.rest.join(' ')}`, 'cordon doctor')
  const { PATH: searchPath = '' } = environment
  const settings = readHostSettings(environment)
  const [examined, engine, hooks] = await Promise.all([
    examine(settings, searchPath),
    examineEngine(environment),
    examineHooks(environment),
  ])
  const diagnosis: Diagnosis = { ...examined, engine, hooks }
  writeText(
    STDOUT,
    given.switches.has('json')
      ? `${JSON.stringify(diagnosis, undefined, 2)}\n`
      : renderDiagnosis(diagnosis, paintFor(STDOUT, environment)),
  )
  return diagnosis.holds ? 0 : 1
}

const examine = async (settings: HostSettings, searchPath: string): Promise<Examined> => {
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
    const finding = {
      what: 'the launcher',
      because: `${error.message}${compiler}`,
      fix: error.fix ?? 'run npm run build',
    }
    return {
      holds: false,
      host,
      backend: null,
      form: null,
      why: error.message,
      forms: null,
      walls: [],
      mechanisms: null,
      findings: [finding],
    }
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
    // The default limit, which most calls have, is enforced in another way than one of a policy.
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
