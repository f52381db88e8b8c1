// The tools of a file that ESLint looks at, analysed once for all rules.
import { homedir } from 'node:os'

import type { Rule } from 'eslint'
import type ts from 'typescript'

import { TOOL_MAKERS, toolsInFile } from '@cordon/manifest/analysis'
import type { AnalysedTool } from '@cordon/manifest/analysis'
import { parseAbsolutePath } from 'cordon/policy'

interface ParserServices {
  readonly program?: ts.Program | null
}

/** By program: it is another one if a file that the tools import has changed. */
const analysed = new WeakMap<ts.Program, Map<ts.SourceFile, readonly AnalysedTool[]>>()

/** Empty if the file declares no tools. */
export const toolsIn = (context: Rule.RuleContext): readonly AnalysedTool[] => {
  const { program } = context.sourceCode.parserServices as ParserServices
  if (!/\bcordon\b/.test(context.sourceCode.text) || program === undefined || program === null) return []
  const file = program.getSourceFile(context.filename)
  if (file === undefined) return []
  const places = {
    workspace: parseAbsolutePath(context.cwd, 'cwd'),
    home: parseAbsolutePath(homedir(), 'home'),
  }
  const known = analysed.get(program) ?? new Map<ts.SourceFile, readonly AnalysedTool[]>()
  analysed.set(program, known)
  const tools = known.get(file) ?? toolsInFile(file, program, places)
  known.set(file, tools)
  return tools
}

const MAKES_TOOLS = new RegExp(`\\b(?:${TOOL_MAKERS.join('|')})\\b`)

/** Whether a file seems to declare tools, and nothing is known of its types. */
export const isUntyped = ({ sourceCode, filename }: Rule.RuleContext): boolean => {
  const { program } = sourceCode.parserServices as ParserServices
  return (
    /['"]cordon(?:\/mcp)?['"]/.test(sourceCode.text) &&
    MAKES_TOOLS.test(sourceCode.text) &&
    program?.getSourceFile(filename) === undefined
  )
}
