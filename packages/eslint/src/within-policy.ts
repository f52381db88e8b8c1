import type { Rule } from 'eslint'

import { grantEdit, grantText } from '@cordon/manifest/analysis'
import type { Grant } from '@cordon/manifest/analysis'

import { toolsIn } from './analysed-file.js'
import { toolName, placeOf, reportAt, wayTo } from './report.js'

export const withinPolicy: Rule.RuleModule = {
  meta: {
    type: 'problem',
    docs: { description: 'The code of a tool does only what its policy grants.' },
    hasSuggestions: true,
    schema: [],
    messages: {
      beyond: '{{tool}} {{does}}, and its policy does not grant that{{way}}. {{fix}}',
      grant: 'Add {{entry}} to {{section}} of its policy.',
      invalid: 'The policy of {{tool}} is not valid: {{problem}}.',
      computed: 'The policy of {{tool}} is computed, so its code is not compared with it.',
    },
  },
  create: (context) => ({
    'Program:exit': () => {
      for (const tool of toolsIn(context)) {
        const shown = tool.site.policy ?? tool.site.call
        const isCompared = tool.site.start !== undefined
        if (tool.policy === 'computed' && isCompared) reportAt(context, shown, 'computed', { tool: toolName(tool) })
        else if (typeof tool.policy === 'object')
          reportAt(context, shown, 'invalid', { tool: toolName(tool), problem: tool.policy.message })
        for (const { does, use, grant } of tool.beyond) {
          const edit = grantEdit(tool.site, grant)
          const fix = `${tool.site.kind === 'in-process' ? UNHELD : ''}${fixOf(grant)}`
          const data = { tool: toolName(tool), does, way: wayTo(tool, use), fix }
          reportAt(context, placeOf(tool, use), 'beyond', data, edit === undefined ? [] : [suggestion(grant, edit)])
        }
      }
    },
  }),
}

const UNHELD = "It runs in the agent's own process, where nothing refuses it. "

const fixOf = (grant: Grant): string =>
  grant.entry === undefined
    ? `What it needs is known only when it runs: grant it in ${grant.section} of its policy.`
    : `The smallest grant is ${grantText(grant, grant.entry)}.`

const suggestion = (
  { section, entry = '' }: Grant,
  { at, text }: { readonly at: number; readonly text: string },
): Rule.SuggestionReportDescriptor => ({
  messageId: 'grant',
  data: { section, entry },
  fix: (fixer) => fixer.insertTextAfterRange([at, at], text),
})
