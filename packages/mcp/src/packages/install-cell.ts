// The cell in which packages are installed. It reaches only the registry that the user's own configuration names, and
// writes only to the folder of the installation. Each command in it is a run of its own in the audit log.
import { escapeGlob } from 'cordon/policy'
import type { AuditLog } from 'cordon/runtime'
import { describeEnding, openSandbox } from 'cordon/sandbox'

import type { Environment } from 'cordon/commands'
import { launchInCell, parseRun, performRunIn, prepareRun } from 'cordon/commands'

export interface InstallSettings {
  readonly audit: AuditLog
  readonly environment: Environment
  /** `--form` and `--rules`, as given. */
  readonly form: string | undefined
  readonly ruleFiles: readonly string[]
}

export interface CellOrder {
  /** The policy with the hosts of the registry. */
  readonly policy: 'bundled:npm' | 'bundled:pip'
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

export const withInstallCell = async <Value>(
  { audit, environment, form, ruleFiles }: InstallSettings,
  { policy, folder, reads, variables }: CellOrder,
  work: (run: RunStep) => Promise<Value>,
): Promise<Value> => {
  const grants: readonly (readonly [string, readonly string[]])[] = [
    ['policy', [policy]],
    ['preset', ['toolchains']],
    ['write', [`${escapeGlob(folder)}/**`]],
    ['read', reads.map(escapeGlob)],
    ['env', Object.entries(variables).map(([name, text]) => `${name}=${text}`)],
    ['timeout', [LONGEST]],
    ...[['workspace', [folder]] as const, ['cwd', [folder]] as const, ['rules', ruleFiles] as const],
    ['form', form === undefined ? [] : [form]],
  ]
  const values = new Map(grants.filter(([, given]) => given.length > 0))
  const order = await parseRun({ switches: new Set(), values, rest: ['true'] }, environment)
  const sandbox = openSandbox({ form: order.form, nursery: 'none' })
  sandbox.catch(() => undefined)
  try {
    return await work(async (argv) => {
      const each = { ...order, argv }
      const prepared = prepareRun(each, false, environment, 'installation')
      // Archives contain settings of editors and the like. In this folder nobody works, and nothing starts.
      const launch = launchInCell(sandbox, environment, each, { names: 'free' })
      const { result } = await performRunIn(audit, prepared, launch, () => undefined)
      return {
        isDone: result.status === 'exited' && result.exitCode === 0,
        how: describeEnding(result),
        stdout: Buffer.from(result.stdout).toString('utf8'),
        stderr: Buffer.from(result.stderr).toString('utf8'),
      }
    })
  } finally {
    await sandbox.then(
      (open) => open.close(),
      () => undefined,
    )
  }
}

/** What went wrong, in the words of the program. */
export const complaintOf = ({ how, stderr }: Step, mark: RegExp): string => {
  const lines = stderr.split('\n').filter((line) => mark.test(line))
  const told = lines.map((line) => line.replace(mark, '').trim()).filter((line) => line !== '')
  return [how, ...told.slice(0, MOST_LINES)].join('; ').slice(0, MOST_LETTERS)
}

const MOST_LINES = 4
const MOST_LETTERS = 1_000
