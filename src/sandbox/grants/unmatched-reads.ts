import type { Boundary } from '../../policy/index.js'

import { expandPattern } from './expand-pattern.js'
import { resolveGrant } from './resolve-grant.js'

/**
 * The read patterns that stand for nothing on this host, as they were written. A path that is not there is an error
 * instead.
 */
export const unmatchedReads = ({ read }: Boundary): readonly string[] =>
  read
    .filter((pattern) => {
      if (pattern.negated || pattern.kind !== 'pattern') return false
      const found = resolveGrant(pattern.base)
      return found === undefined || expandPattern(pattern, found.path).length === 0
    })
    .map(({ text }) => text)
