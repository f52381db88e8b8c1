// A project in memory, with the real declarations of Node.
import { join } from 'node:path'

import ts from 'typescript'

import { REPOSITORY } from '../../../../test/repository.js'
import { toolsInFile } from '../../src/analysis/index.js'
import type { AnalysedTool } from '../../src/analysis/index.js'
import type { AbsolutePath } from 'cordon/policy'

const CHECKOUT = REPOSITORY
export const WORKSPACE = '/home/ann/project' as AbsolutePath
export const PLACES = { workspace: WORKSPACE, home: '/home/ann' as AbsolutePath }

const OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2023,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  lib: ['lib.es2023.d.ts'],
  types: ['node'],
  typeRoots: [join(CHECKOUT, 'node_modules', '@types')],
  allowJs: true,
  noEmit: true,
}

/** `files`: by their path from the workspace. */
export const projectOf = (files: Readonly<Record<string, string>>): ts.Program => {
  const texts = new Map(Object.entries(files).map(([name, text]) => [join(WORKSPACE, name), text]))
  const host = ts.createCompilerHost(OPTIONS)
  const parsed = new Map<string, ts.SourceFile>()
  const real = ts.createCompilerHost(OPTIONS)
  host.getCurrentDirectory = () => WORKSPACE
  host.fileExists = (path) => texts.has(path) || real.fileExists(path)
  host.readFile = (path) => texts.get(path) ?? real.readFile(path)
  host.directoryExists = (path) => path.startsWith(WORKSPACE) || (real.directoryExists?.(path) ?? true)
  host.getSourceFile = (path, version, ...rest) => {
    const text = texts.get(path)
    const found =
      parsed.get(path) ??
      (text === undefined ? real.getSourceFile(path, version, ...rest) : ts.createSourceFile(path, text, version, true))
    if (found !== undefined) parsed.set(path, found)
    return found
  }
  return ts.createProgram({ rootNames: [...texts.keys()], options: OPTIONS, host })
}

/** The tools of a file, in the order of their declarations. */
export const toolsOf = (program: ts.Program, name: string): readonly AnalysedTool[] => {
  const file = program.getSourceFile(join(WORKSPACE, name))
  if (file === undefined) throw new Error(`there is no ${name}`)
  return toolsInFile(file, program, PLACES)
}
