import type { AbsolutePath, Boundary } from '../../policy/index.js'

import { SYSTEM_PATH } from '../grants/program.js'

export type Environment = Readonly<Record<string, string>>

/**
 * Nothing is inherited. Three variables describe the cell itself, others its form and the way to the network; the rest
 * is what the policy names.
 */
export const buildEnvironment = (
  boundary: Boundary,
  host: Environment,
  temporary: AbsolutePath,
  own: Environment = {},
): Environment => {
  const built: Record<string, string> = { PATH: SYSTEM_PATH, HOME: temporary, TMPDIR: temporary, ...own }
  for (const { name, value } of boundary.environment) {
    const text = value.kind === 'set' ? value.text : host[name]
    if (text !== undefined) built[name] = text
  }
  return built
}
