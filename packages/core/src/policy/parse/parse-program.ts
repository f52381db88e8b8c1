import { fail } from '../../errors/index.js'

import type { ProgramGrant } from '../model.js'
import { parsePathGlob } from '../glob/path-glob.js'
import type { PolicyNode } from './policy-node.js'
import { placeOf, textOf } from './policy-node.js'

/** A bare name, or the path of one program. Programs are listed, not matched by patterns. */
export const parseProgram = (node: PolicyNode): ProgramGrant => {
  const text = textOf(node, 'a program name or path')
  const where = placeOf(node)
  const glob = parsePathGlob(text, where)
  const isOnePath =
    glob.alternatives.length === 1 &&
    glob.alternatives.every(({ segments }) => segments.every(({ kind }) => kind === 'name'))
  if (glob.negated || !isOnePath) {
    throw fail('glob-malformed', { where, glob: text, problem: 'a program is one name or path, without wildcards' })
  }
  return text.includes('/') ? { kind: 'path', glob } : { kind: 'name', name: text }
}
