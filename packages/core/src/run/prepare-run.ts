// Reads everything that decides about a run: rules, mode, session and boundary.
import { join } from 'node:path'

import type { Mode, RuleSet } from '../gate/index.js'
import { resolvePolicy } from '../policy/index.js'
import type { Boundary } from '../policy/index.js'
import {
  credentialFiles,
  lastFoldersOf,
  programFiles,
  refuseOwnProgram,
  shieldOwnFiles,
} from '../runtime/own-files/index.js'
import type { OwnFile } from '../runtime/own-files/index.js'
import { loadBounds, loadRuleFiles } from '../runtime/rule-files/index.js'

import type { Environment } from '../line/arguments.js'
import { hasTerminal } from '../line/caller.js'
import type { Caller } from '../line/caller.js'
import { ownFilesOf } from '../settings/own-files.js'
import { configFolderOf, serverPackagesFolderOf, stateFolderOf } from '../settings/own-folders.js'
import type { RunOrder } from './request/run-request.js'
import type { PreparedRun } from './run-gate.js'
import { runTool } from './run-tool.js'
import { openSession } from './session-approvals.js'

/**
 * `kind`: an installation of Cordon itself writes to the folder of packages. A service is started again and again, so
 * its tools must not be able to change it at all: `restart` says how to start it elsewhere.
 */
export const prepareRun = (
  order: RunOrder,
  isInteractive: boolean,
  caller: Caller,
  kind: 'command' | 'installation' | { readonly restart: string } = 'command',
): PreparedRun => {
  const { workspace, home } = order
  const { environment, startedAs } = caller
  const [config, state] = [configFolderOf(environment, home), stateFolderOf(environment, home)]
  const ruleSets = loadRuleFiles({ workspace, home, userFolder: config, projects: 'read', files: order.ruleFiles })
  if (kind !== 'installation')
    loadBounds({ workspace, home, projects: 'read' })({ name: 'cordon run', kind: 'process', policy: order.policy })
  const packages = serverPackagesFolderOf(environment, home)
  const boundary = boundaryOf(order, caller)
  const lastFolders = lastFoldersOf(environment)
  if (typeof kind === 'object') refuseOwnProgram(boundary, { startedAs, lastFolders }, kind.restart)
  const ownFiles = [
    ...ownFilesIn(order, environment).filter(({ path }) => kind !== 'installation' || path !== packages),
    // Nobody starts `npx cordon` in a folder of an installation.
    ...programFiles(boundary, {
      startedAs,
      lastFolders,
      workspace: kind === 'installation' ? undefined : workspace,
    }),
  ]
  const session = order.session ?? environment['CORDON_SESSION']
  return {
    order,
    tool: runTool(order, shieldOwnFiles(boundary, ownFiles, order.cwd)),
    ownFiles,
    ruleSets,
    mode: order.mode ?? firstMode(ruleSets),
    isInteractive,
    session: session === undefined || session === '' ? undefined : openSession(session, state),
    ruleFile: join(config, 'rules.yaml'),
    environment,
    manifest: undefined,
  }
}

const ownFilesIn = ({ ownFiles, secrets, workspace, home }: RunOrder, environment: Environment): readonly OwnFile[] => [
  ...ownFilesOf(environment, home),
  ...ownFiles,
  ...credentialFiles(secrets, { workspace, home, searchPath: environment['PATH'] }),
]

/** The default mode, or the first that the managed rules permit. */
const firstMode = (ruleSets: readonly RuleSet[]): Mode => {
  const permitted = ruleSets.flatMap(({ permittedModes }) => (permittedModes === undefined ? [] : [permittedModes]))
  return permitted.every((modes) => modes.includes('default'))
    ? 'default'
    : (permitted[0]?.find((mode) => permitted.every((modes) => modes.includes(mode))) ?? 'default')
}

const boundaryOf = ({ workspace, home, policy }: RunOrder, caller: Caller): Boundary => {
  const boundary = resolvePolicy(policy, { workspace, home, kind: 'process' })
  const wanted = [
    // Programs on a terminal need TERM.
    ...(hasTerminal(caller) ? [{ name: 'TERM', value: { kind: 'pass' } } as const] : []),
    ...(boundary.network.kind === 'none' ? NO_RETRIES : []),
  ]
  const declared = new Set(boundary.environment.map(({ name }) => name))
  const added = wanted.filter(({ name }) => !declared.has(name))
  return added.length === 0 ? boundary : { ...boundary, environment: [...boundary.environment, ...added] }
}

/** npm, pip and cargo try every failed lookup again, npm for more than a minute. Without a network none succeeds. */
const NO_RETRIES = ['npm_config_fetch_retries', 'PIP_RETRIES', 'CARGO_NET_RETRY'].map(
  (name) => ({ name, value: { kind: 'set', text: '0' } }) as const,
)
