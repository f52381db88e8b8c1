// The system calls of a tool that wait for the keeper's answer.
import { fail } from '../../errors/index.js'

import type { HostFacts } from './host-facts.js'
import { FORM_HAS } from './form-has.js'
import type { Trap } from './plan.js'
import type { CellRequest } from './planned-cell.js'
import { hasOwnProc } from './requirements.js'

export const trapsOf = (
  { boundary, form, observe, stdio }: CellRequest,
  host: HostFacts,
  holdsProtected: boolean,
): readonly Trap[] => {
  if (!host.listener.held) {
    if (observe === 'everything')
      throw fail('host-cannot-hold', {
        mechanism: 'seccomp-listener',
        problem: host.listener.problem,
        fix: 'run without --observe',
      })
    return []
  }
  const has = FORM_HAS[form]
  const traps: Trap[] = ['connect']
  // Counting every fork costs a little, and a signal can interrupt one. So it is done only for a limit of a
  // policy: for a default, a shell must not fail to fork because a child of it ended.
  if (boundary.limits.processes !== undefined) traps.push('fork')
  if (boundary.limits.memory !== undefined) traps.push('memory-file')
  if (boundary.exec.kind !== 'all') traps.push('exec')
  // Opens for writing are few. Each watched open costs some ten microseconds, too much for programs that read
  // thousands.
  traps.push('change')
  if (observe === 'reads') traps.push('read')
  if (observe === 'everything') traps.push('open')
  // `rm -r` removes thousands of files, so removals are watched only if somebody watches the command.
  if (observe === 'everything' || (holdsProtected && stdio.in !== 'frames')) traps.push('name')
  if (!has.ownRoot) traps.push('metadata', 'write')
  // The limit of a user namespace is set in its own /proc.
  if (!hasOwnProc(form, host)) traps.push('watch')
  // The socket itself tells whether it may listen. If it cannot be borrowed, or Landlock (before ABI 4) does not see
  // bind(), only permitted sockets can be made.
  if (!has.ownNetwork && boundary.network.kind === 'none' && (!host.borrowing.held || host.landlock.abi < 4))
    traps.push('socket')
  // From ABI 6 on Landlock keeps signals inside.
  if (!has.ownProcesses && host.landlock.abi < 6) traps.push('signal')
  return traps
}
