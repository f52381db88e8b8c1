// One tool: its code, its policy, and what the code does beyond it.
import ts from 'typescript'

import { CordonError } from '../errors/index.js'
import { parsePolicy, resolvePolicy } from '../policy/index.js'
import type { Places, ToolPolicy } from '../policy/index.js'

import { bare } from './declarations.js'
import { shellLines } from './deeds.js'
import { createJudge } from './judge.js'
import type { Lack } from './judge.js'
import { literalOf } from './literal.js'
import { usesOf } from './reach.js'
import { isShell, programsIn } from './shell-programs.js'
import { isToolCall, readToolSite } from './tool-site.js'
import type { ToolSite } from './tool-site.js'
import type { Deed, Use } from './use.js'
import { createValues } from './values.js'
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

/** The calls in a file that make a tool. */
export const toolCallsIn = (file: ts.SourceFile, program: ts.Program): readonly ts.CallExpression[] => {
  const checker = program.getTypeChecker()
  const found: ts.CallExpression[] = []
  const look = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && isToolCall(node, checker)) found.push(node)
    ts.forEachChild(node, look)
  }
  look(file)
  return found
}

/** Undefined if the options of the tool are not written out. */
export const analyseTool = (call: ts.CallExpression, program: ts.Program, places: Places): AnalysedTool | undefined => {
  const values = createValues(program.getTypeChecker(), () => undefined)
  const site = readToolSite(call, values, program)
  if (site === undefined) return undefined
  const uses = [
    ...(site.start === undefined ? [] : usesOf(program, site.start, site.isModule)).filter(isOfTheCell(site)),
    ...commandUses(site, values),
  ]
  const policy = policyOf(site, values)
  if (typeof policy === 'string' || policy instanceof CordonError) {
    const granted = policy === 'missing' ? parsePolicy({}, 'policy') : undefined
    return {
      ...{ site, uses, granted: undefined },
      policy: policy,
      beyond: granted === undefined ? [] : exceeding(site, granted, uses, places),
    }
  }
  return { site, uses, policy: 'written', granted: policy, beyond: exceeding(site, policy, uses, places) }
}

/** What the code does and a policy does not grant. */
export const lackingIn = (policy: ToolPolicy, { site, uses }: AnalysedTool, places: Places): readonly Exceeding[] =>
  exceeding(site, policy, uses, places)

/** The function that makes the words of a command runs in the agent, and not in the cell. */
const isOfTheCell =
  (site: ToolSite) =>
  ({ deed }: Use): boolean =>
    site.kind !== 'process' || deed.kind === 'opaque' || deed.kind === 'package'

const exceeding = (site: ToolSite, policy: ToolPolicy, uses: readonly Use[], places: Places): readonly Exceeding[] => {
  // Nothing confines a tool in the agent's own process.
  if (site.kind === 'in-process') return []
  const kind = site.kind === 'process' ? 'process' : 'function'
  const judge = createJudge(resolvePolicy(policy, { ...places, kind }), places)
  return uses.flatMap((use): readonly Exceeding[] => {
    const lack = judge(use.deed)
    return lack === undefined ? [] : [{ ...lack, use }]
  })
}

const policyOf = (site: ToolSite, values: Values): ToolPolicy | 'missing' | 'computed' | CordonError => {
  if (site.policy === undefined) return 'missing'
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
const commandUses = (site: ToolSite, values: Values): readonly Use[] => {
  if (site.kind !== 'process' || site.start === undefined) return []
  const { start } = site
  return returnedFrom(start).flatMap((words): readonly Use[] => {
    if (!ts.isArrayLiteralExpression(words)) return []
    const [shell] = words.elements
    if (shell === undefined || !isShell(values.constant(shell))) return []
    const deeds: readonly Deed[] = shellLines(words, values).flatMap(programsIn)
    return deeds.map((deed): Use => ({ deed, node: words, chain: [] }))
  })
}

const returnedFrom = (start: ts.Node): readonly ts.Expression[] => {
  if (ts.isArrayLiteralExpression(start)) return [start]
  if (!ts.isFunctionLike(start)) return []
  const body = 'body' in start ? start.body : undefined
  if (body === undefined) return []
  if (!ts.isBlock(body)) return [bare(body)]
  const found: ts.Expression[] = []
  const look = (node: ts.Node): void => {
    if (ts.isFunctionLike(node)) return
    if (ts.isReturnStatement(node) && node.expression !== undefined) found.push(bare(node.expression))
    ts.forEachChild(node, look)
  }
  ts.forEachChild(body, look)
  return found
}
