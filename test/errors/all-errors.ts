// The tables of all packages together.
import { ERRORS as OF_ADAPTERS } from '../../packages/adapters/src/errors.js'
import { ERRORS as OF_CORE } from '../../packages/core/src/errors/index.js'
import { ERRORS as OF_MANIFEST } from '../../packages/manifest/src/errors/errors.js'
import { ERRORS as OF_MCP } from '../../packages/mcp/src/errors/errors.js'
import { ERRORS as OF_TEAM } from '../../packages/team/src/errors/errors.js'

/** Each with the folder of its package. */
export const TABLES = {
  core: OF_CORE,
  mcp: OF_MCP,
  team: OF_TEAM,
  manifest: OF_MANIFEST,
  adapters: OF_ADAPTERS,
} as const

export const ALL_ERRORS = { ...OF_CORE, ...OF_MCP, ...OF_TEAM, ...OF_MANIFEST, ...OF_ADAPTERS } as const
export type AnyErrorCode = keyof typeof ALL_ERRORS
