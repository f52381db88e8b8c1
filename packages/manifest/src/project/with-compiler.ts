import type TypeScript from 'typescript'

import { fail } from '../errors/errors.js'

/** Loads code that needs the compiler, which is a package of the project. */
export const withCompiler = async <Loaded>(load: () => Promise<Loaded>): Promise<Loaded> => {
  let compiler: { readonly default: Partial<typeof TypeScript> }
  try {
    compiler = await import('typescript')
  } catch (error) {
    throw fail('typescript-missing', { problem: 'it is not installed' }, error)
  }
  // From 7 on, the package has no functions that read code.
  const { version = 'of an unknown version', createProgram } = compiler.default
  if (createProgram === undefined) throw fail('typescript-missing', { problem: `typescript ${version} cannot be used` })
  return load()
}
