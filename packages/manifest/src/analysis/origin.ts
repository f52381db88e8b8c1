// Where a value comes from: a module of Node, a global, a package, or the project itself.
import { isBuiltin } from 'node:module'

import ts from 'typescript'

import { bare, isOwnCode, writesTo } from './declarations.js'
import { isFileName, ownModule } from './modules.js'
import { effectsOf, globalEffects, isHarmless } from './node-effects.js'
import { isNamed } from './node-kinds.js'

/** `fs.promises.readFile` is `{ module: 'fs', path: ['promises', 'readFile'] }`. */
export type Origin =
  | { readonly kind: 'module'; readonly module: string; readonly path: readonly string[] }
  | { readonly kind: 'global'; readonly path: readonly string[] }
  /** A name in its path is undefined if it is computed. */
  | {
      readonly kind: 'package'
      readonly name: string
      /** As the code names it, such as `name/part`. */
      readonly specifier: string
      readonly path: readonly (string | undefined)[]
    }
  /** A member whose name is computed, or a module whose name is. */
  | { readonly kind: 'computed'; readonly because: string }

const MOST_DEEP = 100
const MOST_STEPS = 5_000

const GLOBAL_OBJECTS: ReadonlySet<string> = new Set(['globalThis', 'global', 'self', 'window'])
/** Globals that have effects, or lead to something that has. */
export const GLOBALS: ReadonlySet<string> = new Set([
  ...GLOBAL_OBJECTS,
  ...['process', 'require', 'module', 'fetch', 'WebSocket', 'EventSource', 'eval', 'Function', 'WebAssembly'],
])

export const moduleName = (specifier: string): string => specifier.replace(/^node:/, '')

export interface Origins {
  readonly of: (expression: ts.Expression) => readonly Origin[]
  /** The text of an expression, if it is a constant. */
  readonly constant: (expression: ts.Expression) => string | undefined
}

export const createOrigins = (
  checker: ts.TypeChecker,
  constant: (expression: ts.Expression) => string | undefined,
): Origins => {
  const fromSpecifier = (specifier: string | undefined, because: string): readonly Origin[] => {
    if (specifier === undefined) return [{ kind: 'computed', because }]
    if (isFileName(specifier)) return []
    if (/^(?!node:)[a-z]+:/.test(specifier))
      return [{ kind: 'computed', because: 'the code is in the name of the module' }]
    if (moduleName(specifier) === 'process') return [global('process')]
    return isBuiltin(specifier) || specifier.startsWith('node:')
      ? [{ kind: 'module', module: moduleName(specifier), path: [] }]
      : [{ kind: 'package', name: packageName(specifier), specifier, path: [] }]
  }
  /** Of a specifier in the text. `paths` and `imports` may lead it to a file of the project. */
  const fromNamed = (specifier: ts.Expression | undefined, because: string): readonly Origin[] =>
    specifier !== undefined && ownModule(checker, specifier) !== undefined
      ? []
      : fromSpecifier(specifier && constant(specifier), because)

  const ofIdentifier = (name: ts.Identifier, depth: number): readonly Origin[] => {
    const symbol = checker.getSymbolAtLocation(name)
    const declarations = symbol?.declarations ?? []
    if (!declarations.some(isOwnCode)) {
      const isGlobal = GLOBALS.has(name.text) && !declarations.some((each) => ts.isParameter(each))
      if (isGlobal) return GLOBAL_OBJECTS.has(name.text) ? [{ kind: 'global', path: [] }] : [global(name.text)]
    }
    return declarations.flatMap((declaration) => ofDeclaration(declaration, depth))
  }

  /** Names that are being followed: a variable may get its value from itself. */
  const following = new Set<ts.Declaration>()
  let steps = 0
  const known = new Map<ts.Declaration, readonly Origin[]>()
  const ofDeclaration = (declaration: ts.Declaration, depth: number): readonly Origin[] => {
    const before = known.get(declaration)
    if (before !== undefined || following.has(declaration)) return before ?? []
    following.add(declaration)
    const found = fromDeclaration(declaration, depth)
    following.delete(declaration)
    // What was found on a circle is not all.
    if (following.size === 0) known.set(declaration, found)
    return found
  }

  const fromDeclaration = (declaration: ts.Declaration, depth: number): readonly Origin[] => {
    if (depth > MOST_DEEP) return [{ kind: 'computed', because: 'too many names lead there' }]
    if (ts.isImportSpecifier(declaration)) {
      const from = ofImport(declaration)
      const imported = (declaration.propertyName ?? declaration.name).text
      return from.length > 0 ? from.flatMap((origin) => member(origin, imported)) : ofAlias(declaration, depth)
    }
    if (ts.isNamespaceImport(declaration) || ts.isImportClause(declaration)) {
      const from = ofImport(declaration)
      return from.length > 0 ? from : ofAlias(declaration, depth)
    }
    if (ts.isImportEqualsDeclaration(declaration) && !ts.isExternalModuleReference(declaration.moduleReference))
      return ofEntityName(declaration.moduleReference, depth + 1)
    if (ts.isNamespaceExport(declaration)) {
      const from = declaration.parent.moduleSpecifier
      return from !== undefined && ts.isStringLiteral(from) ? fromNamed(from, '') : []
    }
    if (declaration.getSourceFile().isDeclarationFile) return ofNode(declaration)
    if (ts.isImportEqualsDeclaration(declaration) && ts.isExternalModuleReference(declaration.moduleReference))
      return fromNamed(declaration.moduleReference.expression, 'the module has a computed name')
    if (ts.isExportSpecifier(declaration)) {
      const from = declaration.parent.parent.moduleSpecifier
      const own = (declaration.propertyName ?? declaration.name).text
      if (from !== undefined && ts.isStringLiteral(from)) {
        const origins = fromNamed(from, '')
        if (origins.length > 0) return origins.flatMap((origin) => member(origin, own))
      }
      return ofAlias(declaration, depth)
    }
    if (ts.isVariableDeclaration(declaration)) {
      const values = [declaration.initializer, ...writesTo(checker, declaration).values]
      return values.flatMap((value) => (value === undefined ? [] : ofExpression(value, depth + 1)))
    }
    if (ts.isPropertyAssignment(declaration)) return ofExpression(declaration.initializer, depth + 1)
    if (ts.isShorthandPropertyAssignment(declaration)) {
      const value = checker.getShorthandAssignmentValueSymbol(declaration)
      return (value?.declarations ?? []).flatMap((each) => ofDeclaration(each, depth + 1))
    }
    if (ts.isPropertyDeclaration(declaration) && declaration.initializer !== undefined)
      return ofExpression(declaration.initializer, depth + 1)
    if (ts.isExportAssignment(declaration)) return ofExpression(declaration.expression, depth + 1)
    if (ts.isBindingElement(declaration)) return ofBinding(declaration, depth + 1)
    if (ts.isParameter(declaration)) return ofThenParameter(declaration, depth + 1)
    return []
  }

  /** `import files = fs.promises` */
  const ofEntityName = (name: ts.EntityName, depth: number): readonly Origin[] =>
    ts.isIdentifier(name)
      ? ofIdentifier(name, depth)
      : ofEntityName(name.left, depth).flatMap((origin) => member(origin, name.right.text))

  /** Where `export *` has led into the declarations of Node. */
  const ofNode = (declaration: ts.Declaration): readonly Origin[] => {
    // A whole file has no parent.
    const holder = (declaration.parent as ts.Node | undefined)?.parent
    const name = ts.getNameOfDeclaration(declaration)
    return holder !== undefined && ts.isModuleDeclaration(holder) && name !== undefined && isBuiltin(holder.name.text)
      ? fromSpecifier(holder.name.text, '').flatMap((origin) => member(origin, name.getText()))
      : []
  }

  const ofImport = (declaration: ts.ImportSpecifier | ts.NamespaceImport | ts.ImportClause): readonly Origin[] => {
    const { moduleSpecifier } = ts.findAncestor(declaration, ts.isImportDeclaration) ?? {}
    return moduleSpecifier !== undefined && ts.isStringLiteral(moduleSpecifier) ? fromNamed(moduleSpecifier, '') : []
  }

  /** A name that another file of the project exports. */
  const ofAlias = (declaration: ts.Declaration & { readonly name?: ts.Node }, depth: number): readonly Origin[] => {
    const symbol = declaration.name === undefined ? undefined : checker.getSymbolAtLocation(declaration.name)
    // One step at a time: the last one may lead out of the project, into a module of Node.
    const next =
      symbol !== undefined && symbol.flags & ts.SymbolFlags.Alias ? checker.getImmediateAliasedSymbol(symbol) : symbol
    return (next?.declarations ?? [])
      .filter((each) => each !== declaration)
      .flatMap((each) => ofDeclaration(each, depth + 1))
  }

  /** `const { a: { b } } = value` */
  const ofBinding = (element: ts.BindingElement, depth: number): readonly Origin[] => {
    const pattern = element.parent
    if (!ts.isObjectBindingPattern(pattern)) return []
    const holder = pattern.parent
    const whole = ts.isBindingElement(holder)
      ? ofBinding(holder, depth)
      : ts.isParameter(holder)
        ? ofThenParameter(holder, depth)
        : holder.initializer === undefined
          ? []
          : ofExpression(holder.initializer, depth)
    if (element.dotDotDotToken !== undefined) return whole
    const name = element.propertyName ?? element.name
    if (ts.isIdentifier(name) || ts.isStringLiteral(name)) return whole.flatMap((origin) => member(origin, name.text))
    const key = ts.isComputedPropertyName(name) ? constant(name.expression) : undefined
    return whole.flatMap((origin) => member(origin, key))
  }

  /** `import('x').then((module) => …)` */
  const ofThenParameter = (parameter: ts.ParameterDeclaration, depth: number): readonly Origin[] => {
    const callback = parameter.parent
    const call = callback.parent
    if (!ts.isCallExpression(call) || call.arguments[0] !== callback || callback.parameters[0] !== parameter) return []
    const { expression } = call
    return ts.isPropertyAccessExpression(expression) && expression.name.text === 'then'
      ? ofExpression(expression.expression, depth)
      : []
  }

  const ofCall = (call: ts.CallExpression, depth: number): readonly Origin[] => {
    const [first, second] = call.arguments
    if (call.expression.kind === ts.SyntaxKind.ImportKeyword)
      return fromNamed(first, 'the imported module has a computed name')
    const callees = ofExpression(call.expression, depth)
    if (callees.some(isRequire)) return fromNamed(first, 'the required module has a computed name')
    if (callees.some((origin) => isMember(origin, 'process', 'getBuiltinModule')))
      return fromSpecifier(first && constant(first), 'the required module has a computed name')
    if (callees.some((origin) => isMember(origin, 'module', 'createRequire'))) return [global('require')]
    if (callees.some((origin) => isMember(origin, 'util', 'promisify')) && first !== undefined)
      return ofExpression(first, depth)
    if (!ts.isPropertyAccessExpression(call.expression)) return []
    const { expression: object, name } = call.expression
    if (name.text === 'bind') return ofExpression(object, depth)
    if (isNamed(object, 'Reflect') && name.text === 'get' && first !== undefined && second !== undefined)
      return ofExpression(first, depth).flatMap((origin) => member(origin, constant(second)))
    return []
  }

  const ofExpression = (given: ts.Expression, depth: number): readonly Origin[] => {
    steps += 1
    if (depth > MOST_DEEP || steps > MOST_STEPS) return [{ kind: 'computed', because: 'too many names lead there' }]
    const expression = bare(given)
    if (ts.isIdentifier(expression)) return ofIdentifier(expression, depth + 1)
    if (ts.isAwaitExpression(expression)) return ofExpression(expression.expression, depth + 1)
    if (ts.isCallExpression(expression)) return ofCall(expression, depth + 1)
    if (ts.isConditionalExpression(expression))
      return [expression.whenTrue, expression.whenFalse].flatMap((each) => ofExpression(each, depth + 1))
    if (ts.isBinaryExpression(expression) && CHOICES.has(expression.operatorToken.kind))
      return [expression.left, expression.right].flatMap((each) => ofExpression(each, depth + 1))
    if (ts.isBinaryExpression(expression) && expression.operatorToken.kind === ts.SyntaxKind.CommaToken)
      return ofExpression(expression.right, depth + 1)
    if (ts.isPropertyAccessExpression(expression)) {
      const found = ofExpression(expression.expression, depth + 1)
      if (found.length > 0) return found.flatMap((origin) => member(origin, expression.name.text))
      return ofProperty(expression.name, depth + 1)
    }
    if (ts.isElementAccessExpression(expression)) {
      const found = ofExpression(expression.expression, depth + 1)
      return found.flatMap((origin) => member(origin, constant(expression.argumentExpression)))
    }
    return []
  }

  /** A property of an object or a class of the project. */
  const ofProperty = (name: ts.MemberName, depth: number): readonly Origin[] =>
    (checker.getSymbolAtLocation(name)?.declarations ?? []).flatMap((each) => ofDeclaration(each, depth))

  return {
    of: (expression) => {
      steps = 0
      return ofExpression(expression, 0)
    },
    constant,
  }
}

const CHOICES: ReadonlySet<ts.SyntaxKind> = new Set([
  ts.SyntaxKind.BarBarToken,
  ts.SyntaxKind.QuestionQuestionToken,
  ts.SyntaxKind.AmpersandAmpersandToken,
])

const global = (name: string): Origin => ({ kind: 'global', path: [name] })

export const isRequire = (origin: Origin): boolean =>
  origin.kind === 'global' && (origin.path.join('.') === 'require' || origin.path.join('.') === 'module.require')

const isMember = (origin: Origin, module: string, name: string): boolean =>
  (origin.kind === 'module' && origin.module === module && origin.path[0] === name) ||
  (origin.kind === 'global' && origin.path[0] === module && origin.path[1] === name)

/** The packages of Cordon that code of tools imports. */
export const OWN_PACKAGES: readonly string[] = ['cordon', '@cordon/mcp', '@cordon/adapters']

/** The functions of Cordon that make tools. */
export const TOOL_MAKERS: readonly string[] = ['tool', 'processTool', 'containerTool', 'wasmTool', 'sandboxedTool']

/** The name of the function in Cordon, if it is one of `makers`. */
export const makerIn = (origins: readonly Origin[], makers: readonly string[]): string | undefined => {
  for (const origin of origins) {
    if (origin.kind !== 'package' || !OWN_PACKAGES.includes(origin.name) || origin.path.length !== 1) continue
    // A computed name may be any of them.
    const name = origin.path[0] ?? 'createCordon'
    if (makers.includes(name)) return name
  }
  return undefined
}

/** A member of a value. `name` is undefined if it is computed. */
const member = (origin: Origin, name: string | undefined): readonly Origin[] => {
  switch (origin.kind) {
    case 'computed':
      return [origin]
    case 'package':
      return [name === 'default' ? origin : { ...origin, path: [...origin.path, name] }]
    case 'module':
      if (name === undefined)
        return isData(origin) ? [] : [{ kind: 'computed', because: `a member of ${origin.module} has a computed name` }]
      return [name === 'default' ? origin : { ...origin, path: [...origin.path, name] }]
    case 'global': {
      if (name === undefined) {
        // Variables have names of their own.
        if (origin.path.join('.') === 'process.env') return [{ ...origin, path: [...origin.path, '*'] }]
        if (origin.path.length > 1 && globalEffects(origin.path).length === 0) return []
        return [
          {
            kind: 'computed',
            because: `a member of ${origin.path.join('.') || 'the global object'} has a computed name`,
          },
        ]
      }
      if (origin.path.length > 0) return [{ ...origin, path: [...origin.path, name] }]
      return GLOBALS.has(name) ? (GLOBAL_OBJECTS.has(name) ? [origin] : [global(name)]) : []
    }
  }
}

/** Whether nothing of it has an effect: `path[kind]`, `http.STATUS_CODES[status]`. */
const isData = ({ module, path }: Extract<Origin, { kind: 'module' }>): boolean =>
  isHarmless(module) || (path.length > 0 && path[0] !== 'promises' && effectsOf(module, path).length === 0)

/** Undefined for modules of Node, and for files. */
export const packageNamed = (specifier: string): string | undefined =>
  isFileName(specifier) || /^[a-z]+:/.test(specifier) || isBuiltin(specifier) ? undefined : packageName(specifier)

const packageName = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
