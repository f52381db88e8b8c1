import type { Rule } from 'eslint'

import { packageFolder, reachOfPackage } from '@cordon/manifest/analysis'
import type { PackageReach } from '@cordon/manifest/analysis'

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
      missing: '{{tool}} uses the package {{name}}, which is not installed{{way}}. So its code cannot be followed.',
    },
  },
  create: (context) => ({
    'Program:exit': () => {
      for (const tool of toolsIn(context)) {
        const told = new Set<string>()
        for (const use of tool.uses) {
          if (use.deed.kind !== 'package' || told.has(use.deed.specifier)) continue
          const { specifier: name } = use.deed
          told.add(name)
          const found = reachOfPackage(name, use.node.getSourceFile().fileName)
          const data = { tool: toolName(tool), name, way: wayTo(tool, use) }
          if (found === undefined) reportAt(context, placeOf(tool, use), 'missing', data)
          else if (found.reaches.size > 0 && found.folder !== OWN_FOLDER)
            reportAt(context, placeOf(tool, use), 'reaches', { ...data, reach: describe(found) })
        }
      }
    },
  }),
}

/** Cordon itself, by its place: another package may have its name. */
const OWN_FOLDER = packageFolder(import.meta.filename)

/** With the first place of each. */
const describe = ({ reaches }: PackageReach): string => {
  const can = [...reaches].filter(([reach]) => reach !== 'opaque').sort()
  const opaque = reaches.get('opaque')
  const words = [
    ...(can.length === 0 ? [] : [`can reach ${can.map(([reach, place]) => `${reach} (${place})`).join(', ')}`]),
    ...(opaque === undefined ? [] : [`has code that cannot be followed (${opaque})`]),
  ]
  return words.join(' and ')
}
