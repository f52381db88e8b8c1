// Errors of logins to remote MCP servers. See table.ts.
import type { ErrorText } from 'cordon/errors'

export const MCP_AUTH_ERRORS = {
  'login-failed': {
    when: 'Logging in to an MCP server failed. No token was kept.',
    message: 'logging in to {server} failed: {problem}',
    agent: 'Nobody is logged in to this server.',
    fix: '{fix}',
  },
  'login-needed': {
    when: 'A server needs a login, and there is none that it accepts.',
    message: '{server} needs a login: {problem}',
    agent: 'This server needs a login of the user. Ask the user to log in.',
    fix: 'log in: {command}',
  },
  'login-unreadable': {
    when: 'The file of a login to an MCP server cannot be read.',
    message: 'the login in {path} cannot be read: {problem}',
    agent: 'Nobody is logged in to this server.',
    fix: 'remove the file, and log in again: cordon mcp login URL',
  },
  'login-unwritable': {
    when: 'A login to an MCP server cannot be kept.',
    message: 'the login cannot be written to {path}: {problem}',
    agent: 'Nobody is logged in to this server.',
    fix: 'make that folder writable, or choose another: XDG_STATE_HOME=FOLDER',
  },
} as const satisfies Record<string, ErrorText>
