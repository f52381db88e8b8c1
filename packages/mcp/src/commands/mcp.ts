// `cordon mcp`: a gateway between MCP clients and their servers.
import { EXIT_REFUSED, usage } from 'cordon/commands'
import type { Arguments, CommandLine } from 'cordon/commands'

import { fail } from '../errors/errors.js'
import { listeningBy } from '../servers/listening.js'
import { serveServers } from '../servers/serve-servers.js'
import { CLIENT_FEATURE_NAMES } from '../wire/era-2025.js'
import type { ClientFeature } from '../wire/era-2025.js'

export const mcp = async ({ given, environment }: CommandLine): Promise<number> => {
  const isServed = await serveServers(given, environment, {
    allowed: (given.values.get('allow') ?? []).map(featureNamed),
    isClientAsked: isClientAskedBy(given),
    listening: listeningBy(given),
  })
  return isServed ? 0 : EXIT_REFUSED
}

/** `--ask client`: who sits at the client may approve calls. */
const isClientAskedBy = ({ values }: Arguments): boolean => {
  const word = values.get('ask')?.[0]
  if (word !== undefined && word !== 'client') throw usage(`--ask does not know ${JSON.stringify(word)}`, 'cordon mcp')
  return word === 'client'
}

const featureNamed = (word: string): ClientFeature => {
  const found = CLIENT_FEATURE_NAMES.find((name) => name === word)
  if (found !== undefined) return found
  throw fail('usage-error', {
    problem: `--allow does not know ${JSON.stringify(word)}`,
    fix: `one of: ${CLIENT_FEATURE_NAMES.join(', ')}`,
  })
}
