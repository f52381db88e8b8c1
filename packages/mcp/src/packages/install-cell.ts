// The cell in which packages are installed. It reaches only the registry that the user's own configuration names, and
// writes only to the folder of the installation. Each command in it is a run of its own in the audit log.
import { existsSync } from 'node:fs'

import { escapeGlob } from 'cordon/policy'
import type { PresetName } from 'cordon/policy'
import type { AuditLog } from 'cordon/runtime'
import { describeEnding, openSandbox } from 'cordon/sandbox'
import { withoutUndefined } from 'cordon/shapes'
import { homeOf, launchInCell, ownCaller, parseRun, performRunIn, prepareRun } from 'cordon/commands'
import type { Environment, RunOrder } from 'cordon/commands'

import { fail } from '../errors/errors.js'
import { grantsOfRegistry } from './registry.js'
import type { RegistryQuestion } from './registry.js'
import type { LockEntry } from './lock-file.js'
import type { PackageCall } from './package-words.js'

export interface InstallSettings {
  readonly audit: AuditLog
  readonly environment: Environment
  /** `--form` and `--rules`, as given. */
  readonly form: string | undefined
  readonly ruleFiles: readonly string[]
}

export interface CellOrder {
  readonly registry: RegistryQuestion
  /** The only folder that it may write to. */
  readonly folder: string
  readonly reads: readonly string[]
  readonly variables: Readonly<Record<string, string>>
}

/** How a command of an installation ended. */
export interface Step {
  readonly isDone: boolean
  readonly how: string
  readonly stdout: string
  readonly stderr: string
}

export type RunStep = (argv: readonly string[]) => Promise<Step>

const LONGEST = '10m'

/** `name`: of the package, for errors. */
export const withInstallCell = async <Value>(
  name: string,
  settings: InstallSettings,
  cell: CellOrder,
  work: (run: RunStep) => Promise<Value>,
): Promise<Value> => {
  const { audit, environment } = settings
  const asking = await askingOrder(settings, cell)
  const sandbox = openSandbox({ form: asking.form, nursery: 'none' })
  sandbox.catch(() => undefined)
  const runIn =
    (order: RunOrder): RunStep =>
    async (argv) => {
      const each = { ...order, argv }
      const prepared = prepareRun(each, false, ownCaller(environment), 'installation')
      // Archives contain settings of editors and the like. In this folder nobody works, and nothing starts.
      const launch = launchInCell(sandbox, environment, each, { names: 'free' })
      const { result } = await performRunIn(audit, prepared, launch, () => undefined)
      return {
        isDone: result.status === 'exited' && result.exitCode === 0,
        how: describeEnding(result),
        stdout: Buffer.from(result.stdout).toString('utf8'),
        stderr: Buffer.from(result.stderr).toString('utf8'),
      }
    }
  try {
    const asked = await runIn(asking)(cell.registry.argv)
    const found = asked.isDone ? await grantsOfRegistry(cell.registry, asked.stdout, environment) : undefined
    if (found === undefined) throw unknownRegistry(name, cell, asked)
    const order = await orderOf(settings, cell, [], assignments({ ...found.variables, ...cell.variables }))
    return await work(runIn({ ...order, policy: { ...order.policy, network: found.network }, egress: found.egress }))
  } finally {
    await sandbox.then(
      (open) => open.close(),
      () => undefined,
    )
  }
}

const unknownRegistry = (name: string, { registry: { argv } }: CellOrder, asked: Step) =>
  fail('mcp-package-not-installed', {
    name,
    problem: asked.isDone
      ? 'the address of its registry is not HTTP, or has a user or a password in it'
      : complaintOf(asked, /^(?=.)/),
    fix: `correct the configuration, as shown by: ${argv.join(' ')}`,
  })

/** The order of the question for the registry. */
const askingOrder = (settings: InstallSettings, cell: CellOrder): Promise<RunOrder> => {
  const { environment } = settings
  const { files, variables } = cell.registry
  const home = homeOf(environment)
  const own = files(home, environment).filter((path): path is string => path?.startsWith('/') === true)
  const passed = Object.keys(environment).filter((name) => variables.test(name) && /^\w+$/.test(name))
  const { PATH: searchPath } = cell.variables
  return orderOf(
    settings,
    cell,
    own.filter((path) => existsSync(path)),
    [...passed, ...assignments(withoutUndefined({ HOME: home, PATH: searchPath }))],
  )
}

const assignments = (variables: Readonly<Record<string, string>>): readonly string[] =>
  Object.entries(variables).map(([name, text]) => `${name}=${text}`)

const orderOf = (
  { environment, form, ruleFiles }: InstallSettings,
  { folder, reads }: CellOrder,
  more: readonly string[],
  variables: readonly string[],
): Promise<RunOrder> => {
  const grants: readonly (readonly [string, readonly string[]])[] = [
    ['preset', ['toolchains']],
    ['write', [`${escapeGlob(folder)}/**`]],
    ['read', [...reads, ...more].map(escapeGlob)],
    ['env', variables],
    ['timeout', [LONGEST]],
    ...[['workspace', [folder]] as const, ['cwd', [folder]] as const, ['rules', ruleFiles] as const],
    ['form', form === undefined ? [] : [form]],
  ]
  const values = new Map(grants.filter(([, given]) => given.length > 0))
  return parseRun({ switches: new Set(), values, rest: ['true'] }, ownCaller(environment))
}

/** What went wrong, in the words of the program. */
export const complaintOf = ({ how, stderr }: Step, mark: RegExp): string => {
  const lines = stderr.split('\n').filter((line) => mark.test(line))
  const told = lines.map((line) => line.replace(mark, '').trim()).filter((line) => line !== '')
  return [how, ...told.slice(0, MOST_LINES)].join('; ').slice(0, MOST_LETTERS)
}

const MOST_LINES = 4
const MOST_LETTERS = 1_000

/** How packages of one source are installed and started. Folders are new and empty, or installed. */
export interface Installer {
  /** What the cell of its servers needs to find the interpreter. */
  readonly presets: readonly PresetName[]
  readonly order: (folder: string, environment: Environment) => CellOrder
  /** Finds out what the words mean now. With `files` it also installs that. */
  readonly resolve: (call: PackageCall, folder: string, run: RunStep, depth: 'names' | 'files') => Promise<LockEntry>
  /** Installs exactly the entry. */
  readonly install: (call: PackageCall, entry: LockEntry, folder: string, run: RunStep) => Promise<void>
  /** The words that start its program, without the network. */
  readonly start: (call: PackageCall, folder: string, environment: Environment) => readonly string[]
}
