import { code, sentenceOf } from '../report/markdown.js'

import { RIGHTS, toolName } from './inspection.js'
import type { Inspection } from './inspection.js'
import { cutSentence, exfiltrationSentence } from '../flow/exfiltration-text.js'

export const markdown = ({ rows, dynamic, exfiltrations, unused }: Inspection): string => {
  const agents = [...new Set(rows.map(({ agent }) => agent))]
  return [
    '### Permissions',
    '',
    ...agents.flatMap((agent) => [
      `#### Agent ${code(agent)}`,
      '',
      `| tool | kind | ${RIGHTS.join(' | ')} | approval |`,
      `| --- | --- | ${RIGHTS.map(() => '---').join(' | ')} | --- |`,
      ...rows
        .filter((row) => row.agent === agent)
        .map((row) => {
          const rights = RIGHTS.map((right) => row[right].map(cell).join(', '))
          return `| ${[cell(toolName(row)), row.kind, ...rights, row.approval].join(' | ')} |`
        }),
      '',
    ]),
    ...dynamic.flatMap(({ agent, tools }) => [
      `Agent ${code(agent)} has tools at run time, of which nothing is known here: ${tools.map(code).join(', ')}.`,
      '',
    ]),
    ...exfiltrations.flatMap((each) => [
      `- **flow.exfiltration**: ${sentenceOf(exfiltrationSentence(each))}.  `,
      `  To break it: ${sentenceOf(cutSentence(each.cut, each.agent))}.`,
    ]),
    ...(exfiltrations.length === 0 ? [] : ['']),
    ...(unused.length === 0
      ? []
      : [
          'The code that could be followed does not use these grants:',
          '',
          ...unused.map(
            ({ agent, tool, section, entry }) => `- ${code(agent)}, ${code(tool)}: ${section} ${code(entry)}`,
          ),
          '',
        ]),
  ].join('\n')
}

/** In a table, a bar ends the cell even in a code span. */
const cell = (text: string): string => code(text).replaceAll('|', '\\|')
