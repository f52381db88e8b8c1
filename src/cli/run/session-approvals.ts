// Approvals of a named session of `cordon run`. Each is one line, so that commands that end at the same time lose none.
import { appendFileSync, closeSync, constants, fchmodSync, fstatSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { fail, reasonOf } from '../../errors/index.js'
import { parseGrant } from '../../gate/index.js'
import type { ApprovalGrant } from '../../gate/index.js'

import { usage } from '../arguments.js'

/** How long an approval for a session lasts. */
export const SESSION_LIFETIME = 8 * 3_600_000

export interface SessionApprovals {
  readonly name: string
  readonly grants: readonly ApprovalGrant[]
  readonly remember: (grant: ApprovalGrant) => void
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

export const openSession = (name: string, stateFolder: string): SessionApprovals => {
  if (!NAME.test(name))
    throw usage(
      `--session needs a name of letters, digits and . _ -, at most 64: ${JSON.stringify(name)}`,
      'cordon run',
    )
  const folder = join(stateFolder, 'sessions')
  const path = join(folder, `${name}.jsonl`)
  return {
    name,
    grants: readGrants(path),
    remember: (grant) => {
      guarded(path, () => {
        mkdirSync(folder, { recursive: true, mode: 0o700 })
        const descriptor = openSync(
          path,
          constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW,
          0o600,
        )
        try {
          fchmodSync(descriptor, 0o600)
          appendFileSync(descriptor, `${JSON.stringify(grant)}\n`)
        } finally {
          closeSync(descriptor)
        }
      })
    },
  }
}

const readGrants = (path: string): readonly ApprovalGrant[] => {
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
    return readFileSync(descriptor, 'utf8').split('\n').flatMap(grantIn)
  } catch {
    return []
  } finally {
    closeSync(descriptor)
  }
}

/** Ignores invalid and incomplete lines. */
const grantIn = (line: string): readonly ApprovalGrant[] => {
  try {
    const grant = parseGrant(JSON.parse(line), 'the session')
    return grant.scope === 'session' && grant.status === 'active' ? [grant] : []
  } catch {
    return []
  }
}

const guarded = (path: string, work: () => void): void => {
  try {
    work()
  } catch (cause) {
    throw fail('file-unwritable', { path, problem: reasonOf(cause) }, cause)
  }
}
