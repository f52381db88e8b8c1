// The tools in the text of a project. Nothing of it runs.
import { relative } from 'node:path'

import ts from 'typescript'

import { OWN_PACKAGES, toolsInFile } from '../analysis/index.js'
import type { AnalysedTool } from '../analysis/index.js'
import type { AbsolutePath, Places } from 'cordon/policy'

const EXTENSIONS = ['.ts', '.mts', '.cts', '.tsx', '.js', '.mjs', '.cjs', '.jsx']

export const toolsInCode = (places: Places): readonly AnalysedTool[] => {
  const program = programOf(places.workspace)
  return program
    .getSourceFiles()
    .filter(
      (file) => !file.isDeclarationFile && !/\/node_modules\//.test(file.fileName) && /\bcordon\b/.test(file.text),
    )
    .flatMap((file) => toolsInFile(file, program, places))
}

/** By the project's own tsconfig.json, or all files of its folder. */
const programOf = (folder: AbsolutePath): ts.Program => {
  const { options, files } = settingsOf(folder)
  return ts.createProgram({
    rootNames: files ?? ts.sys.readDirectory(folder, EXTENSIONS, ['**/node_modules']),
    options,
  })
}

/** `files` is undefined if the project has no tsconfig.json. */
export const settingsOf = (
  folder: AbsolutePath,
): { readonly options: ts.CompilerOptions; readonly files: readonly string[] | undefined } => {
  const path = ts.sys.fileExists(`${folder}/tsconfig.json`) ? `${folder}/tsconfig.json` : undefined
  const config: unknown = path === undefined ? {} : ts.readConfigFile(path, (name) => ts.sys.readFile(name)).config
  const { options, fileNames } = ts.parseJsonConfigFileContent(config, ts.sys, folder)
  const resolution = { module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext }
  return {
    options: { ...resolution, ...options, allowJs: true, noEmit: true },
    files: path === undefined ? undefined : fileNames,
  }
}

/** File and line, from the folder of the project. */
export const positionOf = (node: ts.Node, folder: AbsolutePath): string => {
  const file = node.getSourceFile()
  const { line } = file.getLineAndCharacterOfPosition(node.getStart())
  return `${relative(folder, file.fileName)}:${String(line + 1)}`
}

/** What nobody can follow from here: opaque code, and packages, whose code is not compared. */
export const unfollowed = ({ uses }: AnalysedTool): readonly { readonly because: string; readonly node: ts.Node }[] =>
  uses.flatMap(({ deed, node }) => {
    if (deed.kind === 'opaque') return [{ because: deed.because, node }]
    return deed.kind === 'package' && !OWN_PACKAGES.includes(deed.name)
      ? [{ because: `it uses the package ${deed.name}, whose code is not followed`, node }]
      : []
  })
