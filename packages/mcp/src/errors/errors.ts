// Errors of the MCP gateway, its settings and its logins.
import { ERRORS as CORE_ERRORS, failFrom } from 'cordon/errors'
import type { Fail } from 'cordon/errors'

import { MCP_AUTH_ERRORS } from './mcp-auth-errors.js'
import { MCP_ERRORS } from './mcp-errors.js'
import { MCP_SETUP_ERRORS } from './mcp-setup-errors.js'

export const ERRORS = { ...MCP_ERRORS, ...MCP_SETUP_ERRORS, ...MCP_AUTH_ERRORS } as const

const ALL_ERRORS = { ...CORE_ERRORS, ...ERRORS } as const

export const fail: Fail<typeof ALL_ERRORS> = failFrom(ALL_ERRORS)
