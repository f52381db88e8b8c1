import { builtinModules } from 'node:module'
import { posix } from 'node:path'

import ts from 'typescript'

import { isEntry, packageNameOf } from './packages.js'
import type { PackageFacts } from './packages.js'
import { processProblems } from './process-rules.js'
import {
  MAY_USE,
  ONLY_NAMES,
  PARTS,
  PURE_MODULES,
  PURE_ROOMS,
  WITHOUT_INDEX,
  isInCell,
  levelOf,
  nameOf,
  placeOf,
} from './rooms.js'
import type { Place } from './rooms.js'
import type { SourceFile } from './source-tree.js'

/** Every way in which the sources of the packages break the rules about who may import and touch what. */
export const importViolations = (files: readonly SourceFile[], packages: readonly PackageFacts[]): readonly string[] =>
  files.flatMap((file) => violationsOfFile(file, packages))

const violationsOfFile = (file: SourceFile, packages: readonly PackageFacts[]): readonly string[] => {
  const place = placeOf(file.path)
  if (place === undefined) return [`${file.path}: lies in no package`]
  if (levelOf(place) === -1) return [`${file.path}: the room "${nameOf(place)}" is not known`]
  const problems = [
    ...importedNames(file).flatMap((specifier) => importProblem(file.path, place, specifier, packages) ?? []),
    ...takenBeyond(file, place),
    ...processProblems(file, place),
  ]
  return Array.from(new Set(problems), (problem) => `${file.path}: ${problem}`)
}

/** By the compiler's own scanner: static and dynamic imports, re-exports, types and require() alike. */
export const importedNames = ({ text }: SourceFile): readonly string[] =>
  ts.preProcessFile(text, true, true).importedFiles.map(({ fileName }) => fileName)

const importProblem = (
  path: string,
  place: Place,
  specifier: string,
  packages: readonly PackageFacts[],
): string | undefined => {
  if (!specifier.startsWith('.')) return moduleProblem(path, place, withPrefix(specifier), packages)
  const target = posix.join(posix.dirname(path), specifier)
  const other = placeOf(target)
  if (other?.package !== place.package) return `imports ${target}, outside of its package`
  if (other.room === place.room) return undefined
  if (levelOf(other) === -1) return `imports the unknown room "${nameOf(other)}"`
  if (levelOf(other) >= levelOf(place)) return `${nameOf(place)} must not import ${nameOf(other)}`
  const index = `packages/${other.package}/src/${other.room}/index.js`
  if (target !== index && !PARTS.includes(target) && !WITHOUT_INDEX.includes(nameOf(other)))
    return `imports ${target} past the index of its room`
  return undefined
}

const withPrefix = (specifier: string): string => (builtinModules.includes(specifier) ? `node:${specifier}` : specifier)

const moduleProblem = (
  path: string,
  place: Place,
  module: string,
  packages: readonly PackageFacts[],
): string | undefined => {
  const name = packageNameOf(module)
  const other = packages.find((each) => each.name === name)
  if (other !== undefined && MAY_USE[place.package]?.includes(name) !== true)
    return `${place.package} must not import ${name}`
  if (other !== undefined && !isEntry(other, module)) return `imports ${module}, which is no public entry of ${name}`
  const own = packages.find(({ folder }) => folder === place.package)
  if (!module.startsWith('node:') && own?.dependencies.includes(name) !== true)
    return `imports ${name}, on which its package does not depend`
  if (module === 'node:child_process' && nameOf(place) !== 'core/sandbox' && !isInCell(path))
    return 'only sandbox starts processes'
  if (PURE_ROOMS.includes(nameOf(place)) && !PURE_MODULES.includes(module))
    return `${nameOf(place)} computes only; it must not import ${module}`
  if (module === 'node:process' && place.room !== 'commands')
    return 'only commands look at process; take what you need as a parameter'
  return undefined
}

/** Of rooms that may have only some names of an entry. */
const takenBeyond = ({ path, text }: SourceFile, place: Place): readonly string[] => {
  const allowed = ONLY_NAMES[nameOf(place)]
  if (allowed === undefined) return []
  const { statements } = ts.createSourceFile(path, text, ts.ScriptTarget.Latest)
  return statements.flatMap((statement) => {
    if (!ts.isImportDeclaration(statement) && !ts.isExportDeclaration(statement)) return []
    const { moduleSpecifier } = statement
    if (moduleSpecifier === undefined || !ts.isStringLiteral(moduleSpecifier)) return []
    const module = moduleSpecifier.text
    if (!module.startsWith('cordon')) return []
    const names = allowed[module] ?? []
    return names === 'all'
      ? []
      : namesOf(statement)
          .filter((name) => !names.includes(name))
          .map((name) => `${nameOf(place)} must not have ${name} of ${module}`)
  })
}

/** What a statement takes of a module. Without a list it is everything. */
const namesOf = (statement: ts.ImportDeclaration | ts.ExportDeclaration): readonly string[] => {
  const list = ts.isImportDeclaration(statement) ? statement.importClause?.namedBindings : statement.exportClause
  return list !== undefined && (ts.isNamedImports(list) || ts.isNamedExports(list))
    ? list.elements.map(({ name, propertyName }) => (propertyName ?? name).text)
    : ['everything']
}
