// The programs that a command line starts.
import { readCommand } from 'cordon/gate'

import { UNKNOWN } from './use.js'
import type { Deed, Text } from './use.js'

/** Commands that a shell carries out itself. */
const BUILTINS: ReadonlySet<string> = new Set(
  (
    '. : [ alias bg break cd continue echo exit export false fg getopts hash jobs kill let local ' +
    'printf pwd read readonly return set shift source test times trap true type ulimit umask unalias unset wait'
  ).split(' '),
)

/** Whether a program is a shell. */
export const isShell = (program: string | undefined): boolean =>
  program !== undefined && /(?:^|\/)(?:a|ba|da|k|mk|z)?sh$|(?:^|\/)fish$/.test(program)

export const programsIn = (line: Text): readonly Deed[] => {
  if (line.kind === 'unknown') return [{ kind: 'exec', program: UNKNOWN }]
  const rest: readonly Deed[] = line.kind === 'start' ? [{ kind: 'exec', program: UNKNOWN }] : []
  // Of a line that is not known to its end, the last word may go on.
  const known = line.kind === 'start' ? line.text.slice(0, line.text.lastIndexOf(' ') + 1) : line.text
  const programs = readCommand(known).parts.flatMap(({ words }): readonly Deed[] => {
    const [first] = words.filter(({ text, isKnown }) => !isKnown || (text !== 'exec' && text !== 'command'))
    if (first === undefined || (first.isKnown && BUILTINS.has(first.text))) return []
    if (first.isKnown && first.text === 'eval') return [{ kind: 'exec', program: UNKNOWN }]
    return [{ kind: 'exec', program: first.isKnown ? { kind: 'whole', text: first.text } : UNKNOWN }]
  })
  return [...programs, ...rest]
}
