// Where the code of a tool begins, or why it cannot be seen.
import ts from 'typescript'

import { commandLists, firstWordsOf } from './command-words.js'
import { bare, declarationsOf, isOwnCode } from './declarations.js'
import { fileNamed, unseenFile } from './modules.js'
import { isFunction } from './node-kinds.js'
import type { Origins } from './origin.js'
import type { Obstruction } from './use.js'
import { memberOf } from './values.js'
import type { Values } from './values.js'

export type ToolKind = 'function' | 'process' | 'container' | 'wasm' | 'in-process'

export interface Start {
  /** Where its code begins. Undefined: not in the text of the program. */
  readonly start: ts.Node | undefined
  /** Its code is a module, whose top runs too. */
  readonly isModule: boolean
  /** Code of it that is not in the text of the program, and what would show it. */
  readonly unseen: ObstructionAt | undefined
}

export interface ObstructionAt extends Obstruction {
  readonly node: ts.Node
}

interface Declared {
  readonly call: ts.CallExpression
  readonly kind: ToolKind
  readonly options: ts.Expression
  readonly isWritten: boolean
  readonly values: Values
  readonly origins: Origins
  readonly program: ts.Program
}

export const startOf = (tool: Declared): Start => {
  const { call, kind, options, isWritten, values } = tool
  const command = memberOf(options, 'command', values)
  const module = values.property(options, 'module')
  if (kind === 'wasm') {
    const because = 'it is compiled to WebAssembly, which is not read'
    return { start: undefined, isModule: false, unseen: { because, node: module ?? call.expression } }
  }
  if (kind === 'container') {
    const image = values.property(options, 'image')
    const named = image === undefined ? undefined : values.constant(image)
    const because = `it is in the image${named === undefined ? '' : ` ${named}`}, which is not read`
    return { start: command, isModule: false, unseen: { because, node: image ?? call.expression } }
  }
  if (command !== undefined) return { start: command, isModule: false, unseen: unknownProgram(command, tool) }
  const run = memberOf(options, 'run', values)
  if (run !== undefined) return { start: run, isModule: false, unseen: unknownFunction(run, tool) }
  if (module !== undefined) return { isModule: true, ...moduleStart(module, tool) }
  const unseen = isWritten
    ? { because: 'it has no function and no command', fix: 'Write run, module or command.' }
    : { because: 'its options are computed', fix: 'Write them in the call, or spread constants of the project.' }
  return { start: undefined, isModule: false, unseen: { ...unseen, node: call.expression } }
}

const unknownProgram = (command: ts.Node, { values, program }: Declared): ObstructionAt | undefined => {
  const lists = commandLists(command, values, program.getTypeChecker())
  const isKnown =
    lists?.every((list) => firstWordsOf(list, values)?.every(({ kind }) => kind === 'whole') === true) === true
  if (isKnown) return undefined
  const because = 'its program is known only when the tool runs'
  return { because, fix: 'Write its name as the first word of the command.', node: command }
}

const unknownFunction = (run: ts.Node, tool: Declared): ObstructionAt | undefined => {
  if (isFunctionHere(run, tool, 0)) return undefined
  const because = 'its function is known only when the program runs'
  return { because, fix: 'Write it in the call, or take it from a constant or a file of the project.', node: run }
}

const MOST_DEEP = 20

/** Whether the text of the project has the function, or names the package that it comes from. */
const isFunctionHere = (node: ts.Node, tool: Declared, depth: number): boolean => {
  if (ts.isFunctionLike(node) || depth > MOST_DEEP) return depth <= MOST_DEEP
  const { origins, program } = tool
  const isHere = (each: ts.Node): boolean => isFunctionHere(each, tool, depth + 1)
  const inner = bare(node as ts.Expression)
  if (inner !== node) return isHere(inner)
  if (ts.isConditionalExpression(inner)) return isHere(inner.whenTrue) && isHere(inner.whenFalse)
  if (ts.isCallExpression(inner)) {
    const { expression: callee } = inner
    const isBound = ts.isPropertyAccessExpression(callee) && callee.name.text === 'bind'
    return origins.of(inner).length > 0 || isHere(isBound ? callee.expression : callee)
  }
  if (!ts.isIdentifier(inner) && !ts.isPropertyAccessExpression(inner)) return false
  if (origins.of(inner).length > 0) return true
  const checker = program.getTypeChecker()
  const name = ts.isIdentifier(inner) ? inner : inner.name
  const symbol = ts.isShorthandPropertyAssignment(name.parent)
    ? checker.getShorthandAssignmentValueSymbol(name.parent)
    : checker.getSymbolAtLocation(name)
  const found = symbol === undefined ? [] : declarationsOf(checker, symbol)
  return found.length > 0 && found.every((each) => isOwnCode(each) && isHere(valueOf(each, checker)))
}

/** What a declaration gives a name to. Itself, if that is not written there. */
const valueOf = (declaration: ts.Declaration, checker: ts.TypeChecker): ts.Node => {
  if (ts.isVariableDeclaration(declaration) || ts.isPropertyAssignment(declaration))
    return declaration.initializer ?? declaration.name
  if (ts.isExportAssignment(declaration)) return declaration.expression
  if (ts.isShorthandPropertyAssignment(declaration))
    return checker.getShorthandAssignmentValueSymbol(declaration)?.valueDeclaration ?? declaration
  return assignedValue(declaration) ?? declaration
}

/** `exports.load = …` and `module.exports = …` of CommonJS. */
const assignedValue = (declaration: ts.Node): ts.Expression | undefined => {
  const holder = ts.isBinaryExpression(declaration) ? declaration : declaration.parent
  return ts.isBinaryExpression(holder) && holder.operatorToken.kind === ts.SyntaxKind.EqualsToken
    ? holder.right
    : undefined
}

/** `module` and `export`: the declaration in that file. */
const moduleStart = (
  module: ts.Expression,
  { options, values, program }: Declared,
): Pick<Start, 'start' | 'unseen'> => {
  const path = values.constant(module)
  const unseen = (because: string, fix: string): ObstructionAt => ({ because, fix, node: module })
  if (path === undefined) {
    const fix = "Write it as new URL('./file.js', import.meta.url)."
    return { start: undefined, unseen: unseen('the path of its module is computed', fix) }
  }
  const from = options.getSourceFile().fileName
  const file = fileNamed(program, path, from)
  if (file === undefined) return { start: undefined, unseen: { ...unseenFile(program, path, from), node: module } }
  const exported = values.property(options, 'export')
  const name = exported === undefined ? 'default' : values.constant(exported)
  const fix = 'Name a function that the file exports.'
  if (name === undefined) return { start: file, unseen: unseen('the name of its export is computed', fix) }
  const declaration = exportNamed(program.getTypeChecker(), file, name)
  if (declaration === undefined) return { start: file, unseen: unseen(`its module has no export "${name}"`, fix) }
  return { start: declaration, unseen: undefined }
}

const exportNamed = (checker: ts.TypeChecker, file: ts.SourceFile, name: string): ts.Node | undefined => {
  const symbol = checker.getSymbolAtLocation(file)
  const exported = symbol === undefined ? [] : checker.getExportsOfModule(symbol)
  // The default of CommonJS is all that it exports, and its other exports are properties of that.
  const whole = symbol?.exports?.get(ts.InternalSymbolName.ExportEquals)
  const found =
    exported.find((each) => each.name === name) ??
    (name === 'default' || whole === undefined ? whole : checker.getTypeOfSymbol(whole).getProperty(name))
  const [declaration] = found === undefined ? [] : declarationsOf(checker, found)
  return declaration === undefined ? undefined : functionOf(declaration, checker)
}

const functionOf = (declaration: ts.Declaration, checker: ts.TypeChecker): ts.Node => {
  const value = valueOf(declaration, checker)
  return isFunction(value) || ts.isExpression(value) ? value : declaration
}
