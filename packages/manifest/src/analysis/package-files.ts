// Finds the files of packages, as Node finds them for import and for require.
import { existsSync, realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

import ts from 'typescript'

import { jsonOfFile } from 'cordon/runtime'

/** `noDtsResolution` lets the compiler find the code and not its declarations. Without it, nothing is found. */
const OPTIONS: ts.CompilerOptions = {
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  allowJs: true,
  resolveJsonModule: true,
  noDtsResolution: true,
}

/** For one search: what is installed may change afterwards. */
export const createFileCache = (): ts.ModuleResolutionCache =>
  ts.createModuleResolutionCache('/', (name) => name, OPTIONS)

/** The files that a specifier can mean. A package may have one file for import and another for require. */
export const filesNamed = (specifier: string, from: string, cache?: ts.ModuleResolutionCache): readonly string[] => {
  const found = [ts.ModuleKind.ESNext, ts.ModuleKind.CommonJS].flatMap((mode) => {
    const { resolvedModule } = ts.resolveModuleName(specifier, from, OPTIONS, ts.sys, cache, undefined, mode as never)
    return resolvedModule === undefined || /\.d\.[cm]?ts$/.test(resolvedModule.resolvedFileName)
      ? []
      : [realpathSync(resolvedModule.resolvedFileName)]
  })
  return found.length > 0 ? [...new Set(found)] : byRequire(specifier, from)
}

/** What the compiler does not know: native code, and endings that are not those of JavaScript. */
const byRequire = (specifier: string, from: string): readonly string[] => {
  try {
    return [realpathSync(createRequire(from).resolve(specifier))]
  } catch {
    return []
  }
}

/** The folder of the package that a file belongs to: the nearest one whose package.json has a name. */
export const packageFolder = (file: string): string | undefined => {
  for (let folder = dirname(file); folder !== dirname(folder); folder = dirname(folder))
    if (manifestIn(folder)?.['name'] !== undefined) return folder
  return undefined
}

/** Whether a package compiles native code when it is installed. */
export const buildsNativeCode = (folder: string): boolean =>
  existsSync(join(folder, 'binding.gyp')) || manifestIn(folder)?.['gypfile'] === true

const manifestIn = (folder: string): Readonly<Record<string, unknown>> | undefined => {
  const found = jsonOfFile(join(folder, 'package.json'))
  return typeof found === 'object' && found !== null ? (found as Record<string, unknown>) : undefined
}
