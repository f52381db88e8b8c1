// Where the user of a coding agent grants what a hint suggests. The options of hints are those of `cordon run`, which
// the hook writes, and nobody types.
import { join } from 'node:path'

import type { Arguments } from '../../line/arguments.js'
import { asWord } from '../../line/text/shell-word.js'

/** One line for all hints of a run that a hook started. */
export const adviceToHooked = (
  hints: readonly string[],
  { values }: Pick<Arguments, 'values'>,
  configFolder: string,
): readonly string[] => {
  const agent = values.get('agent')?.[0]
  if (agent === undefined || !hints.some((hint) => hint.includes('add --'))) return []
  // It counts only if the hook names no other policy.
  const isDefault = (values.get('policy') ?? []).every((name) => name.endsWith(':agent'))
  const file = isDefault ? `, or grant it in ${asWord(join(configFolder, 'policies', 'agent.yaml'))}` : ''
  return [`the user can add these options to the hook: cordon hook install ${agent} OPTION…${file}; see docs/hooks.md`]
}
