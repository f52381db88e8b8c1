import type { Rule } from 'eslint'

import { toolsIn } from './analysed-file.js'
import { toolName, reportAt } from './report.js'

export const requirePolicy: Rule.RuleModule = {
  meta: {
    type: 'problem',
    docs: { description: 'Every tool says what it may touch, also if that is nothing.' },
    schema: [],
    messages: { missing: '{{tool}} has no policy. If it needs nothing, write policy: {}.' },
  },
  create: (context) => ({
    'Program:exit': () => {
      for (const tool of toolsIn(context))
        if (tool.policy === 'missing') reportAt(context, tool.site.call.expression, 'missing', { tool: toolName(tool) })
    },
  }),
}
