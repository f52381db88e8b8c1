// The table for a terminal.
import { counted, paintFor, renderTable, STDOUT, visible } from 'cordon/commands'
import { plainSentence } from '../report/sentence-text.js'

import { RIGHTS, toolName } from './inspection.js'
import type { Inspection } from './inspection.js'
import { cutSentence, exfiltrationSentence } from '../flow/exfiltration-text.js'

export const text = ({ rows, dynamic, exfiltrations, unused, environment }: Inspection): string => {
  const paint = paintFor(STDOUT, environment)
  const agents = [...new Set(rows.map(({ agent }) => agent))]
  return [
    ...agents.flatMap((agent) => [
      paint('bold', `agent ${visible(agent)}`),
      renderTable(
        ['tool', ...RIGHTS, 'approval'],
        rows
          .filter((row) => row.agent === agent)
          .map((row) => [
            `${toolName(row)}${row.kind === 'function' ? '' : ` (${row.kind})`}`,
            ...RIGHTS.map((right) => row[right].join(', ') || '-'),
            row.approval,
          ]),
        paint,
        'no tools',
      ),
    ]),
    ...(agents.length === 0 ? ['no tools', ''] : []),
    ...dynamic.map(
      ({ agent, tools }) =>
        `agent ${visible(agent)}: ${counted(tools.length, 'tool')} at run time, of which nothing is known here: ` +
        `${tools.map(visible).join(', ')}\n`,
    ),
    ...exfiltrations.map(
      (each) =>
        `${paint('red', 'flow.exfiltration')} ${plainSentence(exfiltrationSentence(each))}.\n` +
        `  ${paint('bold', 'fix:')} ${plainSentence(cutSentence(each.cut, each.agent))}.\n`,
    ),
    ...unused.map(
      ({ agent, tool, section, entry }) =>
        `unused: agent ${visible(agent)}, ${visible(tool)}: ${section} ${visible(entry)}. ` +
        'The code that could be followed does not use it.',
    ),
    ...(unused.length === 0 ? [] : ['']),
  ].join('\n')
}
