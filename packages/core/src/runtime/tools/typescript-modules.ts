// Modules in TypeScript. Node 22.18 and later run them, and remove the types. A cell starts Node without options.
import nodeModule from 'node:module'

import { fail } from '../../errors/index.js'

import { currentDescription } from '../describing.js'

/** Whether the Node of a cell removes types. `features`: false if Node was built or started without that. */
export const stripsTypes = (version: string, features: unknown): boolean => {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const isNew = major > 23 || (major === 23 && minor >= 6) || (major === 22 && minor >= 18)
  return isNew && Boolean(features)
}

/** Refuses a module that no cell can load, when its tool is declared. */
export const requireTypesStripped = (tool: string, path: string): void => {
  const isUnknown = /\.[tj]sx$/.test(path)
  const { versions, features } = process
  // A module that is only described need not run here.
  const isRun =
    stripsTypes(versions.node, (features as { readonly typescript?: unknown }).typescript) ||
    currentDescription()?.stripTypes !== undefined
  if (!isUnknown && (isRun || !/\.[cm]?ts$/.test(path))) return
  throw fail('module-typescript', {
    tool,
    module: path,
    problem: isUnknown ? 'does not run files with JSX' : 'does not run TypeScript by itself',
    version: versions.node,
  })
}

/** The empty text if it has more than types (an enum). Node reports that in the cell. */
export const withoutTypes = (text: string): string => {
  const { stripTypeScriptTypes } = nodeModule as { readonly stripTypeScriptTypes?: (text: string) => string }
  const strip = currentDescription()?.stripTypes ?? stripTypeScriptTypes
  try {
    return strip?.(text) ?? ''
  } catch {
    return ''
  }
}
