// A question of Cordon that the agent puts to its user. The agent does not tell its hook the answer: it runs the
// rewritten command, or it does not. So the approval is kept before, for exactly this command, and only the rewritten
// command can use it: its session has a name that nobody can guess, in a folder that is withheld from every cell.
import { randomUUID } from 'node:crypto'
import { rmSync, statSync } from 'node:fs'
import { join } from 'node:path'

import { bug } from '../errors/index.js'
import type { PermissionDecision } from '../gate/index.js'
import { namesInFolder } from '../platform/index.js'

import { openSession } from '../run/session-approvals.js'
import type { Agent } from './agent.js'

const LIFETIME_MS = 15 * 60_000
const PREFIX = 'hook-'

/** Returns the name of the session. */
export const rememberApproval = (
  agent: Agent,
  decision: PermissionDecision,
  command: string,
  stateFolder: string,
): string => {
  const { tool, arguments_hash: argumentsHash, policy_hash: policyHash, approval_action_id: id } = decision
  if (argumentsHash === null || policyHash === null || id === null) return bug('a question about unknown arguments')
  removeOld(join(stateFolder, 'sessions'))
  const session = openSession(`${PREFIX}${randomUUID()}`, stateFolder)
  session.remember({
    grant: {
      approval_action_id: id,
      tool,
      arguments_hash: argumentsHash,
      policy_hash: policyHash,
      scope: 'session',
      status: 'active',
      expires_at: Date.now() + LIFETIME_MS,
      approved_by: `the user of ${agent.title}`,
    },
    command,
  })
  return session.name
}

const removeOld = (folder: string): void => {
  for (const name of namesInFolder(folder)) {
    const path = join(folder, name)
    const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now())
    if (name.startsWith(PREFIX) && age > LIFETIME_MS) rmSync(path, { force: true })
  }
}
