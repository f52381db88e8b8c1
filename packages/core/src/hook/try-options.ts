// Resolves the options of a hook as a call does, before any call: `cordon hook install` and `check` report the error
// that would otherwise block every call.
import { CordonError } from '../errors/index.js'
import { surveyGrants } from '../sandbox/index.js'

import { parseScattered } from '../line/arguments.js'
import type { Environment } from '../line/arguments.js'
import { ownCaller } from '../line/caller.js'
import { prepareRun } from '../run/prepare-run.js'
import { openRunLog, shieldedFrom, withLog } from '../run/record.js'
import { parseRun } from '../run/request/run-request.js'
import { openRunGate } from '../run/run-gate.js'
import type { Agent } from './agent.js'
import { requireNarrowWorkspace } from './decide.js'
import { HOOK_HELP } from './hook-help.js'
import { runOptions } from './rewrite.js'

interface Tried {
  readonly agent: Agent
  /** The options, as they stand in the installed command. */
  readonly words: readonly string[]
  /** The folder in which the agent is started. */
  readonly folder: string
  readonly environment: Environment
}

/** The error that every call in this folder would get. */
export const optionsError = async (tried: Tried): Promise<CordonError | undefined> => {
  try {
    await tryOptions(tried)
    return undefined
  } catch (error) {
    if (error instanceof CordonError) return error
    throw error
  }
}

const tryOptions = async ({ agent, words, folder, environment }: Tried): Promise<void> => {
  const given = parseScattered(words, HOOK_HELP, 'cordon hook')
  const caller = ownCaller(environment)
  const workspace = given.values.get('workspace')?.[0] ?? folder
  const values = new Map([...runOptions(agent.name, given, workspace, environment), ['cwd', [workspace]]])
  const order = await parseRun({ switches: new Set(), values, rest: ['true'] }, caller)
  requireNarrowWorkspace(agent, order)
  await withLog(openRunLog(environment, order.home), (audit) => {
    const prepared = shieldedFrom(audit, prepareRun(order, agent.canAsk({}), caller))
    openRunGate(prepared)
    // Granted paths must exist where a command runs in a cell.
    if (!given.switches.has('no-cell') && order.image === undefined) surveyGrants(prepared.tool.boundary)
  })
}

/** Whether another folder would not have this error. A hook for all projects can be installed anywhere. */
export const isOfFolder = ({ code, params }: CordonError, folder: string): boolean => {
  const { path, glob } = params
  return (
    code === 'hook-workspace-too-wide' ||
    (typeof path === 'string' && path.startsWith(`${folder}/`)) ||
    (typeof glob === 'string' && !/^[/~]/.test(glob))
  )
}
