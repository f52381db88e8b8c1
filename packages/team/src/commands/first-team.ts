// The first team of a server: its owner is admin and operator, and one agent has a token in a file.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'

import { messageOf } from 'cordon/errors'
import { fail } from '../errors/errors.js'
import { openDirectAccess } from '../store/index.js'
import type { Engine } from '../store/index.js'

import type { Environment } from 'cordon/commands'
import { stateFolderOf } from 'cordon/commands'

export interface FirstTeam {
  readonly team: string
  readonly owner: string
  readonly agent: string
  /** A new file for its token. */
  readonly tokenFile: string
}

/** False where the team exists already, and nothing is changed. The engine stays open. */
export const makeFirstTeam = async (engine: Engine, { team, owner, agent, tokenFile }: FirstTeam): Promise<boolean> => {
  const { ask } = openDirectAccess(engine, { kind: 'somebody', actor: owner })
  const { teams } = await ask('whoAmI', {})
  if (teams.some((each) => each.team === team)) return false
  // Checked first: a token that cannot be written would be lost.
  if (existsSync(tokenFile)) throw unwritable(`${tokenFile} exists already`)
  await ask('foundTeam', { team, admin: owner })
  await ask('addMember', { team, actor: owner, kind: 'operator' })
  await ask('addMember', { team, actor: agent, kind: 'agent' })
  const { id, token } = await ask('createToken', { team, actor: agent })
  try {
    mkdirSync(dirname(tokenFile), { recursive: true, mode: 0o700 })
    writeFileSync(tokenFile, `${token}\n`, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    await ask('revokeToken', { id })
    throw unwritable(`it cannot be written: ${messageOf(error)}`, error)
  }
  return true
}

/** Not in the working directory, which tools may be granted to read. */
export const tokenFileOf = (agent: string, named: string | undefined, environment: Environment): string =>
  named === undefined ? join(stateFolderOf(environment, homedir()), `${agent}.token`) : resolve(named)

const unwritable = (problem: string, cause?: unknown) =>
  fail('token-unsafe', { problem, fix: 'name a new file in a folder of yours: --token-out FILE' }, cause)
