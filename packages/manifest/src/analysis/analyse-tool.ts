// One tool: its code, its policy, and what the code does beyond it.
import ts from 'typescript'

import { CordonError } from 'cordon/errors'
import { parsePolicy, resolvePolicy } from 'cordon/policy'
import type { Places, ToolPolicy } from 'cordon/policy'

import { commandLists, firstWordsOf } from './command-words.js'
import { bare } from './declarations.js'
import { shellLines } from './deeds.js'
import { createJudge } from './judge.js'
import type { Lack } from './judge.js'
import { createOrigins } from './origin.js'
import { usesOf } from './reach.js'
import { isShell, programsIn } from './shell-programs.js'
import { readToolSite, toolMaker } from './tool-site.js'
import type { ToolSite } from './tool-site.js'
import type { ObstructionAt } from './tool-start.js'
import type { Deed, Use } from './use.js'
import { createValues, propertyName } from './values.js'
import type { Values } from './values.js'

export interface AnalysedTool {
  readonly site: ToolSite
  /** `missing`: the tool has no policy. `computed`: its policy is only known when the program runs. */
  readonly policy: 'written' | 'missing' | 'computed' | CordonError
  /** The policy that is written there. */
  readonly granted: ToolPolicy | undefined
  readonly uses: readonly Use[]
  readonly beyond: readonly Exceeding[]
}

/** Something that the code does and the policy does not grant. */
export interface Exceeding extends Lack {
  readonly use: Use
}

/** The tools that a file declares. */
export const toolsInFile = (file: ts.SourceFile, program: ts.Program, places: Places): readonly AnalysedTool[] => {
  const checker = program.getTypeChecker()
  const values = createValues(checker, () => undefined)
  const origins = createOrigins(checker, values.constant)
  const found: AnalysedTool[] = []
  const look = (node: ts.Node): void => {
    const maker = ts.isCallExpression(node) ? toolMaker(node, origins, checker) : undefined
    if (maker !== undefined) {
      const site = readToolSite(node as ts.CallExpression, maker, values, origins, program)
      found.push(analyseTool(site, values, program, places))
    }
    ts.forEachChild(node, look)
  }
  look(file)
  return found
}

const analyseTool = (site: ToolSite, values: Values, program: ts.Program, places: Places): AnalysedTool => {
  const { call, start, isModule, unseen } = site
  const uses: readonly Use[] = [
    ...(unseen === undefined ? [] : [unseenUse(unseen)]),
    ...(start === undefined ? [] : usesOf(program, start, isModule ? undefined : call.getSourceFile())).filter(
      isOfTheCell(site),
    ),
    ...commandUses(site, values, program.getTypeChecker()),
  ]
  const policy = policyOf(site, values)
  if (typeof policy === 'string' || policy instanceof CordonError) {
    const beyond = policy === 'missing' ? exceeding(site, parsePolicy({}, 'policy'), uses, places) : []
    return { site, uses, policy, granted: undefined, beyond }
  }
  return { site, uses, policy: 'written', granted: policy, beyond: exceeding(site, policy, uses, places) }
}

const unseenUse = ({ node, because, fix }: ObstructionAt): Use => ({
  deed: { kind: 'opaque', because, ...(fix === undefined ? {} : { fix }) },
  node,
  chain: [],
})

/** What the code does and a policy does not grant. */
export const lackingIn = (policy: ToolPolicy, { site, uses }: AnalysedTool, places: Places): readonly Exceeding[] =>
  exceeding(site, policy, uses, places)

/** The function that makes the words of a command runs in the agent, and not in the cell. */
const isOfTheCell =
  ({ kind }: ToolSite) =>
  ({ deed }: Use): boolean =>
    (kind !== 'process' && kind !== 'container') || deed.kind === 'opaque' || deed.kind === 'package'

const exceeding = (site: ToolSite, policy: ToolPolicy, uses: readonly Use[], places: Places): readonly Exceeding[] => {
  const kind = site.kind === 'process' || site.kind === 'container' ? 'process' : 'function'
  const judge = createJudge(resolvePolicy(policy, { ...places, kind }), places, site.kind !== 'in-process')
  return uses.flatMap((use): readonly Exceeding[] => {
    const lack = judge(use.deed)
    return lack === undefined ? [] : [{ ...lack, use }]
  })
}

const policyOf = (site: ToolSite, values: Values): ToolPolicy | 'missing' | 'computed' | CordonError => {
  if (site.policy === undefined) return site.isWritten ? 'missing' : 'computed'
  const written = literalOf(site.policy, values)
  if (written === undefined) return 'computed'
  try {
    return parsePolicy(written, 'policy')
  } catch (error) {
    if (error instanceof CordonError) return error
    throw error
  }
}

/** The programs of `command: () => ['sh', '-c', '…']`. The first word is the tool itself. */
const commandUses = ({ kind, start }: ToolSite, values: Values, checker: ts.TypeChecker): readonly Use[] => {
  if ((kind !== 'process' && kind !== 'container') || start === undefined) return []
  return (commandLists(start, values, checker) ?? []).flatMap((words): readonly Use[] => {
    const isOfShell = firstWordsOf(words, values)?.some((text) => text.kind === 'whole' && isShell(text.text)) === true
    const deeds: readonly Deed[] = isOfShell ? shellLines(words, values).flatMap(programsIn) : []
    return deeds.map((deed): Use => ({ deed, node: words, chain: [] }))
  })
}

const MOST_DEEP = 20

/** Undefined if a part of it is computed. */
const literalOf = (given: ts.Expression, values: Values, depth = 0): unknown => {
  const expression = bare(given)
  if (depth > MOST_DEEP) return undefined
  if (expression.kind === ts.SyntaxKind.TrueKeyword) return true
  if (expression.kind === ts.SyntaxKind.FalseKeyword) return false
  if (ts.isNumericLiteral(expression)) return Number(expression.text)
  if (ts.isArrayLiteralExpression(expression)) return arrayOf(expression, values, depth)
  if (ts.isObjectLiteralExpression(expression)) return objectOf(expression, values, depth)
  const text = values.constant(expression)
  if (text !== undefined) return text
  const initial = values.initial(expression)
  return initial === undefined ? undefined : literalOf(initial, values, depth + 1)
}

const arrayOf = (array: ts.ArrayLiteralExpression, values: Values, depth: number): unknown => {
  const found: unknown[] = []
  for (const element of array.elements) {
    const value = literalOf(ts.isSpreadElement(element) ? element.expression : element, values, depth + 1)
    if (value === undefined) return undefined
    if (!ts.isSpreadElement(element)) found.push(value)
    else if (Array.isArray(value)) found.push(...(value as unknown[]))
    else return undefined
  }
  return found
}

const objectOf = (object: ts.ObjectLiteralExpression, values: Values, depth: number): unknown => {
  const found: Record<string, unknown> = {}
  for (const each of object.properties) {
    if (ts.isSpreadAssignment(each)) {
      const value = literalOf(each.expression, values, depth + 1)
      if (typeof value !== 'object') return undefined
      Object.assign(found, value)
      continue
    }
    const name = propertyName(each.name)
    const written = ts.isPropertyAssignment(each)
      ? each.initializer
      : ts.isShorthandPropertyAssignment(each)
        ? each.name
        : undefined
    const value = written === undefined ? undefined : literalOf(written, values, depth + 1)
    if (name === undefined || value === undefined) return undefined
    found[name] = value
  }
  return found
}
