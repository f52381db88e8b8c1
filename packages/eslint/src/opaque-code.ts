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
        'The tools of this file cannot be followed, because ESLint does not know its types. In eslint.config, give ' +
        'an entry whose files match it the parser of typescript-eslint, with parserOptions: { projectService: true }' +
        '{{script}}.',
    },
  },
  create: (context) => ({
    'Program:exit': (node) => {
      if (isUntyped(context))
        context.report({ node, messageId: 'untyped', data: { script: scriptFix(context.filename) } })
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

// TypeScript knows no types of JavaScript by itself. The usual files: ['**/*.ts'] leaves it out too.
const scriptFix = (filename: string): string => {
  const ending = /\.[cm]?jsx?$/.exec(filename)?.[0]
  return ending === undefined ? '' : `, name '**/*${ending}' in its files, and set allowJs: true in tsconfig.json`
}

/** What is left where the code cannot be shown. */
const HELD = 'Only its sandbox enforces the policy there.'
const UNHELD = "It runs in the agent's own process, so nothing enforces its policy there."
