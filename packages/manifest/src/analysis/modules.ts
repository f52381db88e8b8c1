// Files of the project, by the names under which modules import them.
import { posix } from 'node:path'

import ts from 'typescript'

import { declarationsOf, isOwnCode } from './declarations.js'
import type { Obstruction } from './use.js'

/** Whether a module is named as a file, and not as a package. `#name` is of the project's own package.json. */
export const isFileName = (specifier: string): boolean => /^(?:\.|\/|#|file:)/.test(specifier)

/** `named`: a path from the file `from`, an absolute one, or a URL of a file. */
export const fileNamed = (program: ts.Program, named: string, from: string): ts.SourceFile | undefined =>
  namesOf(named, from)
    .map((each) => program.getSourceFile(each))
    .find((file) => file !== undefined && !file.isDeclarationFile)

const namesOf = (named: string, from: string): readonly string[] => {
  const path = posix.resolve(posix.dirname(from), decodeURIComponent(named.replace(/^file:\/\//, '')))
  return [
    path,
    // A file of TypeScript is imported by the name that it will have.
    ...[path.replace(/\.([cm]?)js$/, '.$1ts'), path.replace(/\.js$/, '.tsx')],
    ...['.js', '.cjs', '.ts', '.json', '/index.js', '/index.ts'].map((ending) => path + ending),
  ]
}

/** Why a file is not followed. */
export const unseenFile = (program: ts.Program, named: string, from: string): Obstruction => {
  const shown = named.startsWith('file:') ? posix.relative(posix.dirname(from), namesOf(named, from)[0] ?? '') : named
  const path = named.startsWith('#') ? undefined : namesOf(named, from).find((each) => ts.sys.fileExists(each))
  if (path === undefined) return { because: `there is no file ${shown}`, fix: 'Correct its path.' }
  if (!/\.[cm]?[jt]sx?$/.test(path)) return { because: `${shown} is not a file of JavaScript or TypeScript` }
  const isLeftOut = /\.[cm]?jsx?$/.test(path) && program.getCompilerOptions().allowJs !== true
  return {
    because: `${shown} is not part of the TypeScript project`,
    fix: `Add it to "include" of tsconfig.json${isLeftOut ? ', with "allowJs": true' : ''}.`,
  }
}

/** The file of the project that a module specifier names: by its path, by `paths`, or by `imports`. */
export const ownModule = (checker: ts.TypeChecker, specifier: ts.Node): ts.SourceFile | undefined =>
  checker.getSymbolAtLocation(specifier)?.declarations?.find((each) => ts.isSourceFile(each) && isOwnCode(each)) as
    ts.SourceFile | undefined

/** The declarations of everything that a file exports. */
export const exportsOf = (checker: ts.TypeChecker, file: ts.SourceFile): readonly ts.Declaration[] => {
  const symbol = checker.getSymbolAtLocation(file)
  if (symbol === undefined) return []
  return checker.getExportsOfModule(symbol).flatMap((each) => declarationsOf(checker, each))
}
