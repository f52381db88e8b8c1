import { fail } from '../../errors/index.js'

/** Loads code that needs the compiler, which is a package of the project. */
export const withCompiler = async <Loaded>(load: () => Promise<Loaded>): Promise<Loaded> => {
  try {
    return await load()
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND')
      throw fail('typescript-missing', {}, error)
    throw error
  }
}
