import { parseAbsolutePath } from '../glob/absolute-path.js'
import type { AbsolutePath } from '../glob/absolute-path.js'
import { isReadable } from '../resolve/access.js'
import type { Check } from './check.js'
import type { Effective } from './effective.js'
import { readBeyond } from './files-within.js'
import { exactPattern } from '../glob/path-pattern.js'
import type { Witness } from './witness.js'

/** Programs that `a` can start and `b` cannot. With `exec: all`, `b` can start each program that it can read. */
export const execChecks = (a: Effective, b: Effective): readonly Check[] => {
  const [ofA, ofB] = [a.boundary.exec, b.boundary.exec]
  if (ofA.kind === 'none' || ofB.kind === 'all') return []
  const listed = ofB.kind === 'list' ? ofB.programs : []
  if (ofA.kind === 'all') return [{ key: 'exec', find: () => readableBeyond(a, listed) }]
  // A program that is listed and carved out is refused when the policy is used.
  const isCarvedOut = (name: string) => name.startsWith('/') && !isReadable(a.reading, name as AbsolutePath)
  return ofA.programs.flatMap((program, at) =>
    listed.includes(program) || isCarvedOut(program)
      ? []
      : [{ key: `exec ${String(at)}`, find: () => ({ kind: 'exec', program }) }],
  )
}

const SOME_PROGRAMS = ['/usr/bin/env', '/usr/bin/sh', '/usr/bin/true'].map((text) => parseAbsolutePath(text))

/** With `exec: all`, any readable file may be a program. */
const readableBeyond = ({ reading }: Effective, listed: readonly string[]): Witness | undefined => {
  const usual = SOME_PROGRAMS.find((program) => isReadable(reading, program) && !listed.includes(program))
  if (usual !== undefined) return { kind: 'exec', program: usual }
  const known = listed.filter((name) => name.startsWith('/')).map((path) => exactPattern(path as AbsolutePath))
  const found = readBeyond(reading, { read: known, write: [], presetRead: [] })
  return found?.kind === 'file' ? { kind: 'exec', program: found.path } : found
}
