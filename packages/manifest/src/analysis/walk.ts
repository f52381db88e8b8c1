// The walk through the code of a tool: what it has reached, what is still to be visited, and what was found.
import ts from 'typescript'

import { bare, declarationsOf, isOwnCode, writesTo } from './declarations.js'
import { mentionedDeeds } from './deeds.js'
import { exportsOf, fileNamed, isFileName, ownModule, unseenFile } from './modules.js'
import { callableName, callableOf, declarationName, isAlias, isFunction, shortName, textOfName } from './node-kinds.js'
import { createOrigins } from './origin.js'
import type { Origin, Origins } from './origin.js'
import type { Deed, Step, Obstruction, Use } from './use.js'
import { createValues } from './values.js'
import type { Values } from './values.js'

/** The functions that lead somewhere, from the outermost on. */
export type Chain = readonly Step[]

interface Work {
  readonly node: ts.Node
  readonly chain: Chain
}

/** A call or mention whose arguments are judged when all callers are known. */
interface Pending {
  readonly deeds: () => readonly Deed[]
  readonly node: ts.Node
  readonly chain: Chain
}

export interface Walk {
  readonly checker: ts.TypeChecker
  readonly values: Values
  readonly origins: Origins
  readonly isReached: (node: ts.Node) => boolean
  /** What is to be visited next. */
  readonly next: () => Work | undefined
  readonly enter: (node: ts.Node, chain: Chain, name?: string) => void
  /** Who calls it, and with what, is not known. */
  readonly enterByName: (node: ts.Node, chain: Chain, name: string) => void
  /** Module code runs when the module is imported. */
  readonly enterModule: (specifier: ts.Expression, chain: Chain) => void
  readonly enterDeclaration: (declaration: ts.Declaration, chain: Chain, isCalled: boolean) => void
  /** `lib['get']` */
  readonly enterMember: (object: ts.Expression, name: string, chain: Chain) => void
  /** Methods of this name are reached. */
  readonly mentionName: (name: string) => void
  /** Methods of this name are called by something that does not say which. */
  readonly callByName: (name: string) => void
  /** Enters a method as soon as something mentions its name. */
  readonly waitForName: (name: string, node: ts.Node, chain: Chain) => void
  /** A call of a function of the project. */
  readonly noteCall: (callable: ts.Node, call: ts.CallExpression) => void
  readonly declarations: (name: ts.Node) => readonly ts.Declaration[]
  /** Says so if a name is imported from a file that is not part of the project. */
  readonly noteUnseen: (name: ts.Node, chain: Chain) => void
  readonly use: (deeds: () => readonly Deed[], node: ts.Node, chain: Chain) => void
  readonly opaque: (unseen: string | Obstruction, node: ts.Node, chain: Chain) => void
  /** True if the expression is something from outside of the project. */
  readonly mention: (expression: ts.Expression, chain: Chain) => boolean
  /** The object of a constant that is written out. */
  readonly writtenTable: (object: ts.Expression) => ts.ObjectLiteralExpression | undefined
  readonly uses: () => readonly Use[]
}

const MOST_CHAIN = 30

/** `agentFile`: the file that declares the tool. The code at its top runs in the agent, and not in the tool. */
export const createWalk = (program: ts.Program, start: ts.Node, agentFile: ts.SourceFile | undefined): Walk => {
  const checker = program.getTypeChecker()
  const reached = new Set<ts.Node>()
  const work: Work[] = []
  const pending: Pending[] = []
  const names = new Set<string>()
  /** Methods of reached classes and objects, by name, until something mentions the name. */
  const methods = new Map<string, Work[]>()
  const given = new Map<ts.Node, ts.Expression[][]>()
  /** Functions that were mentioned without being called: others may call them. */
  const escaped = new Set<ts.Node>([start])
  /** Names of methods that are called through an interface, or in brackets. */
  const indirect = new Set<string>()
  /** Functions whose calls are known by their declaration. */
  const directly = new Set<ts.Node>()

  const values = createValues(checker, (parameter) => {
    const callable = parameter.parent
    const calls = given.get(callable)
    const at = callable.parameters.indexOf(parameter)
    if (escaped.has(callable) || indirect.has(callableName(callable))) return undefined
    if (calls === undefined || parameter.dotDotDotToken !== undefined) return undefined
    const found = calls.map((call) => call[at] ?? parameter.initializer)
    return found.every((each) => each !== undefined) ? found : undefined
  })
  const origins = createOrigins(checker, values.constant)

  const enter = (node: ts.Node, chain: Chain, name?: string): void => {
    if (reached.has(node)) return
    reached.add(node)
    if (chain.length > MOST_CHAIN) {
      opaque('too many functions lead there', node, chain)
      return
    }
    work.push({ node, chain: name === undefined ? chain : [...chain, { name, node }] })
  }
  const mentionName = (name: string): void => {
    if (names.has(name)) return
    names.add(name)
    for (const { node, chain } of methods.get(name) ?? []) enterByName(node, chain, name)
    methods.delete(name)
  }
  const waitForName = (name: string, node: ts.Node, chain: Chain): void => {
    if (names.has(name)) enterByName(node, chain, name)
    else methods.set(name, [...(methods.get(name) ?? []), { node, chain }])
  }
  /** Who calls it, and with what, is not known. */
  const enterByName = (node: ts.Node, chain: Chain, name: string): void => {
    if (!directly.has(node)) escaped.add(node)
    enter(node, chain, name)
  }

  /** Module code runs when the module is imported. */
  const enterModule = (specifier: ts.Expression, chain: Chain): void => {
    const named = values.constant(specifier)
    const found = ownModule(checker, specifier)
    if (named === undefined || (found === undefined && !isFileName(named))) return
    const from = specifier.getSourceFile().fileName
    const file = found ?? fileNamed(program, named, from)
    if (file === undefined) {
      if (!named.endsWith('.json')) opaque(unseenFile(program, named, from), specifier, chain)
    } else if (isOwnCode(file)) {
      enter(file, chain, shortName(file.fileName))
      // Its exports are taken by names that are not known.
      if (!ts.isImportDeclaration(specifier.parent) && !ts.isExportDeclaration(specifier.parent))
        for (const each of exportsOf(checker, file)) enterDeclaration(each, chain, false)
    }
  }
  const enterDeclaration = (declaration: ts.Declaration, chain: Chain, isCalled: boolean): void => {
    if (!isOwnCode(declaration)) return
    const file = declaration.getSourceFile()
    // Its own variables do not make the code at the top of its file run.
    if (file !== agentFile && ts.findAncestor(declaration, (node) => node === start) === undefined)
      enter(file, chain, shortName(file.fileName))
    const callable = callableOf(declaration)
    if (callable !== undefined && !isCalled) escaped.add(callable)
    if (ts.isVariableDeclaration(declaration)) {
      if (declaration.initializer !== undefined) enter(declaration.initializer, chain, textOfName(declaration.name))
      // A variable may hold another function later.
      for (const value of writesTo(checker, declaration).values)
        if (isFunction(bare(value))) enter(value, chain, textOfName(declaration.name))
    } else if (ts.isBindingElement(declaration)) {
      // The pattern of a parameter has no value here. The variable around its function is another thing.
      const holder = ts.walkUpBindingElementsAndPatterns(declaration)
      if (ts.isVariableDeclaration(holder) && holder.initializer !== undefined) enter(holder.initializer, chain)
    } else if (ts.isPropertyAssignment(declaration)) enter(declaration.initializer, chain, textOfName(declaration.name))
    else if (ts.isExportAssignment(declaration)) enter(declaration.expression, chain, 'default')
    else if (!ts.isParameter(declaration) && !ts.isTypeElement(declaration))
      enter(declaration, chain, declarationName(declaration))
  }

  const use = (deeds: () => readonly Deed[], node: ts.Node, chain: Chain): void => {
    pending.push({ deeds, node, chain })
  }

  const mention = (expression: ts.Expression, chain: Chain): boolean => {
    const found = origins.of(expression)
    if (found.length === 0) return false
    if (!isAlias(expression)) use(() => found.flatMap((origin) => mentionedDeeds(origin)), expression, chain)
    else use(() => found.filter(isOpaqueByItself).flatMap((origin) => mentionedDeeds(origin)), expression, chain)
    return true
  }

  /** `lib['get']` */
  const enterMember = (object: ts.Expression, name: string, chain: Chain): void => {
    mentionName(name)
    const property = checker.getTypeAtLocation(object).getProperty(name)
    for (const declaration of property === undefined ? [] : declarationsOf(checker, property))
      if (isFunction(declaration) || ts.isVariableDeclaration(declaration)) enterDeclaration(declaration, chain, false)
  }

  /** The object of a constant that is written out. */
  const writtenTable = (object: ts.Expression): ts.ObjectLiteralExpression | undefined => {
    const initial = values.initial(object)
    const table = initial === undefined ? undefined : bare(initial)
    return table !== undefined && ts.isObjectLiteralExpression(table) ? table : undefined
  }

  const opaque = (unseen: string | Obstruction, node: ts.Node, chain: Chain): void => {
    const why = typeof unseen === 'string' ? { because: unseen } : unseen
    use(() => [{ kind: 'opaque', ...why }], node, chain)
  }

  const noteUnseen = (name: ts.Node, chain: Chain): void => {
    const specifier = symbolOf(name)
      ?.declarations?.map(importedFrom)
      .find((each) => each !== undefined)
    if (specifier === undefined || !isFileName(specifier.text) || specifier.text.endsWith('.json')) return
    if (ownModule(checker, specifier) === undefined)
      opaque(unseenFile(program, specifier.text, specifier.getSourceFile().fileName), name, chain)
  }

  /** In `{ load }`, that of the variable. */
  const symbolOf = (name: ts.Node): ts.Symbol | undefined =>
    ts.isShorthandPropertyAssignment(name.parent)
      ? checker.getShorthandAssignmentValueSymbol(name.parent)
      : checker.getSymbolAtLocation(name)

  const declarations = (name: ts.Node): readonly ts.Declaration[] => {
    const symbol = symbolOf(name)
    return symbol === undefined ? [] : declarationsOf(checker, symbol)
  }

  return {
    checker,
    values,
    origins,
    enter,
    enterByName,
    enterModule,
    enterDeclaration,
    enterMember,
    mentionName,
    waitForName,
    declarations,
    noteUnseen,
    use,
    opaque,
    mention,
    writtenTable,
    isReached: (node) => reached.has(node),
    next: () => work.pop(),
    callByName: (name) => {
      indirect.add(name)
      mentionName(name)
    },
    noteCall: (callable, call) => {
      directly.add(callable)
      if (call.arguments.some(ts.isSpreadElement)) escaped.add(callable)
      given.set(callable, [...(given.get(callable) ?? []), [...call.arguments]])
    },
    uses: () => pending.flatMap(({ deeds, node, chain }) => deeds().map((deed): Use => ({ deed, node, chain }))),
  }
}

const isOpaqueByItself = (origin: Origin): boolean => origin.kind === 'computed'

/** The module that an import declares a name from. */
const importedFrom = (declaration: ts.Declaration): ts.StringLiteral | undefined => {
  if (!ts.isImportSpecifier(declaration) && !ts.isImportClause(declaration) && !ts.isNamespaceImport(declaration))
    return undefined
  const specifier = ts.findAncestor(declaration, ts.isImportDeclaration)?.moduleSpecifier
  return specifier !== undefined && ts.isStringLiteral(specifier) ? specifier : undefined
}
