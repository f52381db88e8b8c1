import type { Rule } from 'eslint'

import { reachOfPackage } from '../analysis/index.js'
import type { PackageReach } from '../analysis/index.js'

import { toolsIn } from './analysed-file.js'
import { toolName, placeOf, reportAt, wayTo } from './report.js'

export const packageReach: Rule.RuleModule = {
  meta: {
    type: 'suggestion',
    docs: {
      description: 'Packages that a tool uses, and what they can do. Their code is not compared with the policy.',
    },
    schema: [],
    messages: {
      reaches: '{{tool}} uses the package {{name}}, which {{reach}}{{way}}. Its code is not compared with the policy.',
      missing: '{{tool}} uses the package {{name}}, which is not installed{{way}}.',
    },
  },
  create: (context) => ({
    'Program:exit': () => {
      for (const tool of toolsIn(context)) {
        const told = new Set<string>()
        for (const use of tool.uses) {
          if (use.deed.kind !== 'package' || told.has(use.deed.name) || use.deed.name === 'cordon') continue
          const { name } = use.deed
          told.add(name)
          const found = reachOfPackage(name, use.node.getSourceFile().fileName)
          const data = { tool: toolName(tool), name, way: wayTo(tool, use) }
          if (found === undefined) reportAt(context, placeOf(tool, use), 'missing', data)
          else if (found.reaches.size > 0 || found.isIncomplete)
            reportAt(context, placeOf(tool, use), 'reaches', { ...data, reach: describe(found) })
        }
      }
    },
  }),
}

const describe = ({ reaches, isIncomplete }: PackageReach): string => {
  const can = [...reaches].filter((each) => each !== 'opaque').sort()
  const words = [
    ...(can.length === 0 ? [] : [`can reach ${can.join(', ')}`]),
    ...(reaches.has('opaque') || isIncomplete ? ['has code that cannot be followed'] : []),
  ]
  return words.join(' and ')
}
