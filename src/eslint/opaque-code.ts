import type { Rule } from 'eslint'

import { toolsIn } from './analysed-file.js'
import { toolName, placeOf, reportAt, wayTo } from './report.js'

export const opaqueCode: Rule.RuleModule = {
  meta: {
    type: 'problem',
    docs: { description: 'The code of a tool can be followed by reading it.' },
    schema: [],
    messages: { opaque: 'The code of {{tool}} cannot be followed here: {{because}}{{way}}.' },
  },
  create: (context) => ({
    'Program:exit': () => {
      for (const tool of toolsIn(context))
        for (const use of tool.uses)
          if (use.deed.kind === 'opaque') {
            const data = { tool: toolName(tool), because: use.deed.because, way: wayTo(tool, use) }
            reportAt(context, placeOf(tool, use), 'opaque', data)
          }
    },
  }),
}
