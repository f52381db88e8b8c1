// Approvals of a named session of `cordon run`. Each is one line, and so is each revocation, so that commands that end
// at the same time lose none.
import {
  appendFileSync,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  openSync,
  readFileSync,
  readdirSync,
} from 'node:fs'
import { join } from 'node:path'

import { fail, reasonOf } from '../errors/index.js'
import { parseGrant } from '../gate/index.js'
import type { ApprovalGrant } from '../gate/index.js'
import { makeFolders } from '../platform/index.js'
import { isMapping } from '../shapes/index.js'

import { usage } from '../line/arguments.js'

/** How long an approval for a session lasts. */
export const SESSION_LIFETIME = 8 * 3_600_000

export interface KeptApproval {
  readonly grant: ApprovalGrant
  /** The command as the person saw it. */
  readonly command: string
}

export interface SessionApprovals {
  readonly name: string
  readonly kept: readonly KeptApproval[]
  readonly remember: (approval: KeptApproval) => void
  readonly revoke: (approvalActionId: string) => void
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/
const ENDING = '.jsonl'

const folderIn = (stateFolder: string): string => join(stateFolder, 'sessions')

export const openSession = (name: string, stateFolder: string): SessionApprovals => {
  if (!NAME.test(name))
    throw usage(
      `--session needs a name of letters, digits and . _ -, at most 64: ${JSON.stringify(name)}`,
      'cordon run',
    )
  const folder = folderIn(stateFolder)
  const path = join(folder, `${name}${ENDING}`)
  return {
    name,
    kept: readApprovals(path),
    remember: (approval) => {
      append(folder, path, approval)
    },
    revoke: (approvalActionId) => {
      append(folder, path, { revoked: approvalActionId })
    },
  }
}

/** All sessions with their approvals, valid or not. */
export const listSessions = (stateFolder: string): readonly SessionApprovals[] => {
  try {
    return readdirSync(folderIn(stateFolder))
      .filter((file) => file.endsWith(ENDING) && NAME.test(file.slice(0, -ENDING.length)))
      .sort()
      .map((file) => openSession(file.slice(0, -ENDING.length), stateFolder))
  } catch {
    // No session has been used.
    return []
  }
}

const append = (folder: string, path: string, line: object): void => {
  try {
    makeFolders(folder, 0o700)
    const descriptor = openSync(
      path,
      constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW,
      0o600,
    )
    try {
      fchmodSync(descriptor, 0o600)
      appendFileSync(descriptor, `${JSON.stringify(line)}\n`)
    } finally {
      closeSync(descriptor)
    }
  } catch (cause) {
    throw fail('file-unwritable', { path, problem: reasonOf(cause) }, cause)
  }
}

const readApprovals = (path: string): readonly KeptApproval[] => {
  let descriptor: number
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch {
    // No approvals.
    return []
  }
  try {
    const { uid, mode } = fstatSync(descriptor)
    // Others could have written the file.
    if (uid !== process.geteuid?.() || (mode & 0o022) !== 0) return []
    const lines = readFileSync(descriptor, 'utf8').split('\n').flatMap(lineIn)
    const revoked = new Set(lines.map((line) => line['revoked']))
    return lines.flatMap(approvalIn).filter(({ grant }) => !revoked.has(grant.approval_action_id))
  } catch {
    return []
  } finally {
    closeSync(descriptor)
  }
}

type Line = Readonly<Record<string, unknown>>

/** Ignores invalid and incomplete lines. */
const lineIn = (text: string): readonly Line[] => {
  try {
    const line: unknown = JSON.parse(text)
    return isMapping(line) ? [line] : []
  } catch {
    return []
  }
}

const approvalIn = ({ grant: given, command }: Line): readonly KeptApproval[] => {
  try {
    const grant = parseGrant(given, 'the session')
    const isValid = grant.scope === 'session' && grant.status === 'active' && typeof command === 'string'
    return isValid ? [{ grant, command }] : []
  } catch {
    return []
  }
}
