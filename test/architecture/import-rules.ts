import { builtinModules } from 'node:module'
import { posix } from 'node:path'

import ts from 'typescript'

import { KEPT_APART, PARTS_WITH_INDEX, PURE_MODULES, PURE_ROOMS, isInCell, levelOf, roomOf } from './rooms.js'
import type { SourceFile } from './source-tree.js'

/** Every way in which the files of src/ break the rules about who may import and touch what. */
export const importViolations = (files: readonly SourceFile[]): readonly string[] => files.flatMap(violationsOfFile)

const violationsOfFile = (file: SourceFile): readonly string[] => {
  const room = roomOf(file.path)
  if (room === undefined) return [`${file.path}: lies in no room`]
  if (levelOf(room) === -1) return [`${file.path}: the room "${room}" is not known`]
  const problems = [
    ...importedNames(file).flatMap((specifier) => importProblem(file.path, room, specifier) ?? []),
    ...processProblems(file, room),
  ]
  return problems.map((problem) => `${file.path}: ${problem}`)
}

// The compiler's own scanner: static and dynamic imports, re-exports, types and require() alike.
const importedNames = ({ text }: SourceFile): readonly string[] =>
  ts.preProcessFile(text, true, true).importedFiles.map(({ fileName }) => fileName)

const importProblem = (path: string, room: string, specifier: string): string | undefined => {
  if (!specifier.startsWith('.')) return packageProblem(path, room, withPrefix(specifier))
  const target = posix.join(posix.dirname(path), specifier)
  const targetRoom = roomOf(target)
  if (targetRoom === undefined) return `imports ${target}, which lies in no room`
  if (targetRoom === room) return undefined
  if (levelOf(targetRoom) === -1) return `imports the unknown room "${targetRoom}"`
  if (KEPT_APART[room]?.includes(targetRoom) === true) return `${room} must not import ${targetRoom}`
  if (levelOf(targetRoom) >= levelOf(room)) return `${room} must not import ${targetRoom}`
  if (target !== `src/${targetRoom}/index.js` && !PARTS_WITH_INDEX.includes(target))
    return `imports ${target} past the index of its room`
  return undefined
}

const withPrefix = (specifier: string): string => (builtinModules.includes(specifier) ? `node:${specifier}` : specifier)

const packageProblem = (path: string, room: string, module: string): string | undefined => {
  if (module === 'node:child_process' && room !== 'sandbox' && !isInCell(path)) return 'only sandbox starts processes'
  if (PURE_ROOMS.includes(room) && !PURE_MODULES.includes(module))
    return `${room} computes only; it must not import ${module}`
  if (module === 'node:process' && room !== 'cli') return 'only cli looks at process; take what you need as a parameter'
  return undefined
}

/** Who may read which members of `process`. */
const READERS: Readonly<Record<string, string>> = { env: 'cli', argv: 'cli', platform: 'platform' }

const mayRead = (path: string, room: string, member: string): boolean =>
  READERS[member] === undefined || READERS[member] === room || (READERS[member] === 'cli' && isInCell(path))

/** `process.env`, `process['argv']`, `const { env } = process`, `globalThis.process.env` */
const processProblems = ({ path, text }: SourceFile, room: string): readonly string[] => {
  const problems: string[] = []
  const check = (name: string) => {
    if (!mayRead(path, room, name)) problems.push(`reads process.${name}; only ${READERS[name]} does`)
  }
  const visit = (node: ts.Node): void => {
    if (ts.isPropertyAccessExpression(node) && isProcess(node.expression)) check(node.name.text)
    if (ts.isElementAccessExpression(node) && isProcess(node.expression)) {
      const key = node.argumentExpression
      // A computed name may be any of them.
      check(ts.isStringLiteralLike(key) ? key.text : 'env')
    }
    if (
      ts.isVariableDeclaration(node) &&
      node.initializer !== undefined &&
      isProcess(node.initializer) &&
      ts.isObjectBindingPattern(node.name)
    ) {
      for (const { propertyName, name } of node.name.elements) {
        check((propertyName ?? name).getText())
      }
    }
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true))
  return problems
}

const isProcess = (node: ts.Node): boolean =>
  (ts.isIdentifier(node) && node.text === 'process') ||
  (ts.isPropertyAccessExpression(node) &&
    node.name.text === 'process' &&
    ts.isIdentifier(node.expression) &&
    node.expression.text === 'globalThis')
