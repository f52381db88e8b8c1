// The folders that tests name.
import { mkdirSync, realpathSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const REPOSITORY = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '')
const PACKAGES = join(REPOSITORY, 'packages')
export const ADAPTERS = join(PACKAGES, 'adapters')
export const CORE = join(PACKAGES, 'core')
export const MCP = join(PACKAGES, 'mcp')
export const TEAM = join(PACKAGES, 'team')
/** The program of the command line. */
export const CORDON = join(CORE, 'bin', 'cordon.js')

/** As if the project had installed these packages, of this repository or of others. */
export const linkPackages = (project: string, ...names: readonly string[]): void => {
  for (const name of names) {
    const link = join(project, 'node_modules', name)
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(realpathSync(join(REPOSITORY, 'node_modules', name)), link)
  }
}
