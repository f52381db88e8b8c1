// Errors of servers and registries that the core itself raises or reads. See table.ts.
import type { ErrorText } from './error-text.js'

export const SERVER_ERRORS = {
  'mcp-server-ended': {
    when: 'An MCP server ended while it was needed, or before.',
    message: 'the MCP server "{server}" has ended: {how}',
    agent: 'This server has ended. The call may have run, so look before you call again. The server is started again.',
    fix: 'see what it wrote to stderr, and `cordon log`; the next request starts it again, at most 5 times in a row',
  },
  'listen-refused': {
    when: 'The address to listen on is not safe: others could read the traffic or connect.',
    message: 'not listening on {where}: {problem}',
    agent: 'The registry cannot be reached.',
    fix: '{fix}',
  },
  'request-invalid': {
    when: 'The path, parameters or body of a request are not valid.',
    message: 'invalid request: {problem}',
    agent: 'Invalid request: {problem}.',
    fix: '{fix}',
  },
  'request-refused': {
    when: 'A request has a wrong Host or Origin, or its caller does not have the role that it needs.',
    message: 'the request is refused: {problem}',
    agent: 'The registry refused the request: {problem}.',
    fix: '{fix}',
  },
  'request-too-large': {
    when: 'The body of a request is too large.',
    message: 'the body is larger than {limit} bytes',
    agent: 'The request is too large.',
    fix: 'send less, or start the server with a larger --max-body',
  },
  'store-state': {
    when: 'The state of the call or object does not allow this, or its input does not fit its schema.',
    message: 'not possible: {problem}',
    agent: 'Not possible: {problem}.',
    fix: '{hint}',
  },
} as const satisfies Record<string, ErrorText>
