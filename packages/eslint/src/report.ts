// Where a finding is shown: at the code itself, or at the tool if the code is in another file.
import type { Rule } from 'eslint'
import type ts from 'typescript'

import type { AnalysedTool, Use } from '@cordon/manifest/analysis'

/** Reports at a node of the file. */
export const reportAt = (
  context: Rule.RuleContext,
  node: ts.Node,
  messageId: string,
  data: Record<string, string>,
  suggest: Rule.SuggestionReportDescriptor[] = [],
): void => {
  const { sourceCode } = context
  context.report({
    loc: {
      start: sourceCode.getLocFromIndex(node.getStart()),
      end: sourceCode.getLocFromIndex(node.getEnd()),
    },
    messageId,
    data,
    suggest,
  })
}

/** The node to show for a use. */
export const placeOf = ({ site }: AnalysedTool, use: Use): ts.Node => {
  const file = site.call.getSourceFile()
  if (use.node.getSourceFile() === file) return use.node
  const { start = site.call } = site
  return start.getSourceFile() === file ? start : site.call
}

/** How the tool gets there: " (made → helper → lib/files.ts:3)". Empty if it does so itself. */
export const wayTo = ({ site }: AnalysedTool, use: Use): string => {
  const isElsewhere = use.node.getSourceFile() !== site.call.getSourceFile()
  const steps = use.chain.map(({ name }) => name)
  const last = isElsewhere ? [positionOf(use.node)] : []
  return steps.length + last.length === 0 ? '' : ` (${[...steps, ...last].join(' → ')})`
}

const positionOf = (node: ts.Node): string => {
  const file = node.getSourceFile()
  const { line } = file.getLineAndCharacterOfPosition(node.getStart())
  return `${file.fileName.split('/').slice(-2).join('/')}:${line + 1}`
}

export const toolName = ({ site }: AnalysedTool): string => (site.name === undefined ? 'the tool' : `"${site.name}"`)
