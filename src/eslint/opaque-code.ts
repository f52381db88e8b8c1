import type { Rule } from 'eslint'

import { isUntyped, toolsIn } from './analysed-file.js'
import { toolName, placeOf, reportAt, wayTo } from './report.js'

export const opaqueCode: Rule.RuleModule = {
  meta: {
    type: 'problem',
    docs: { description: 'The code of a tool can be followed by reading it.' },
    schema: [],
    messages: {
      opaque: 'The code of {{tool}} cannot be followed here: {{because}}{{way}}. {{fix}}',
      untyped:
        'The tools of this file cannot be followed, because ESLint does not know its types. Set its parser to ' +
        'that of typescript-eslint, with parserOptions: { projectService: true }.',
    },
  },
  create: (context) => ({
    'Program:exit': (node) => {
      if (isUntyped(context)) context.report({ node, messageId: 'untyped' })
      for (const tool of toolsIn(context))
        for (const use of tool.uses)
          if (use.deed.kind === 'opaque') {
            const { because, fix = tool.site.kind === 'in-process' ? UNHELD : HELD } = use.deed
            reportAt(context, placeOf(tool, use), 'opaque', {
              tool: toolName(tool),
              because,
              fix,
              way: wayTo(tool, use),
            })
          }
    },
  }),
}

/** What is left where the code cannot be shown. */
const HELD = 'Only its sandbox enforces the policy there.'
const UNHELD = "It runs in the agent's own process, so nothing enforces its policy there."
