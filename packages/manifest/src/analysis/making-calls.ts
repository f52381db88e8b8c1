// Finds the calls of a program that make agents and tools of Cordon, under whatever name they call its functions.
import ts from 'typescript'

import { createOrigins, makerIn } from './origin.js'
import { readToolSite } from './tool-site.js'
import { createValues } from './values.js'

export interface MakingCall {
  /** The function of Cordon. */
  readonly maker: string
  /** The name of the tool, if it is written there. */
  readonly name: string | undefined
  /** On the line that a stack trace has for this call. */
  readonly node: ts.Node
}

const MAKERS: readonly string[] = ['createCordon', 'tool', 'processTool', 'containerTool', 'wasmTool']

export const makingCallsIn = (files: readonly ts.SourceFile[], program: ts.Program): readonly MakingCall[] => {
  const checker = program.getTypeChecker()
  const values = createValues(checker, () => undefined)
  const origins = createOrigins(checker, values.constant)
  const found: MakingCall[] = []
  const look = (node: ts.Node): void => {
    if (ts.isCallExpression(node)) {
      const maker = makerIn(origins.of(node.expression), MAKERS)
      // A function that is passed on may be called by anybody.
      const passed = node.arguments.flatMap((each) => (isName(each) ? (makerIn(origins.of(each), MAKERS) ?? []) : []))
      if (maker !== undefined) {
        const name = maker === 'createCordon' ? undefined : readToolSite(node, maker, values, origins, program).name
        found.push({ maker, name, node: calledName(node.expression) })
      }
      found.push(...passed.map((each) => ({ maker: each, name: undefined, node: calledName(node.expression) })))
    }
    ts.forEachChild(node, look)
  }
  files.forEach(look)
  return found
}

const isName = (node: ts.Expression): boolean => ts.isIdentifier(node) || ts.isPropertyAccessExpression(node)

const calledName = (called: ts.Expression): ts.Node => (ts.isPropertyAccessExpression(called) ? called.name : called)
