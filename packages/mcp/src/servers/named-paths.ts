// The files and folders that the words of a server name. A server is usually told there what it is for.
import { escapeGlob, isWithinPath } from 'cordon/policy'
import type { AbsolutePath } from 'cordon/policy'
import { namedPaths } from 'cordon/runtime'

/** Existing ones, as globs without links. Those in the working folder are relative to it. */
const pathsNamedBy = (argv: readonly string[], cwd: string): readonly string[] => [
  ...new Set(namedPaths(argv.slice(1), cwd).map(({ real }) => globFor(real, cwd))),
]

const globFor = (path: AbsolutePath, cwd: string): string =>
  path === cwd
    ? '.'
    : escapeGlob(isWithinPath(path, cwd as AbsolutePath) ? path.slice(cwd.replace(/\/$/, '').length + 1) : path)

/** Without a named path a server is likely to be for the working folder. JSON is YAML. */
export const policyForWords = (argv: readonly string[], cwd: string): string => {
  const paths = pathsNamedBy(argv, cwd)
  return `{ filesystem: { read: [${(paths.length === 0 ? ['.'] : paths).map((path) => JSON.stringify(path)).join(', ')}] } }`
}
