// The programs that a command line starts.
import { readCommand } from '../gate/index.js'

import { UNKNOWN } from './use.js'
import type { Deed, Text } from './use.js'

/** Commands that a shell carries out itself. */
const BUILTINS: ReadonlySet<string> = new Set(
  (
    '. : [ alias bg break cd command continue echo eval exec exit export false fg getopts hash jobs kill let local ' +
    'printf pwd read readonly return set shift source test times trap true type ulimit umask unalias unset wait'
  ).split(' '),
)

export const programsIn = (line: Text): readonly Deed[] => {
  if (line.kind !== 'whole') return [{ kind: 'exec', program: UNKNOWN }]
  return readCommand(line.text).parts.flatMap(({ words: [first] }): readonly Deed[] => {
    if (first === undefined || (first.isKnown && BUILTINS.has(first.text))) return []
    return [{ kind: 'exec', program: first.isKnown ? { kind: 'whole', text: first.text } : UNKNOWN }]
  })
}
