// Errors of `cordon serve`, its clients, and the folder of an embedded store. See table.ts.
import type { ErrorText } from 'cordon/errors'

export const SERVER_ERRORS = {
  'store-held': {
    when: 'Another process has the embedded store open. Two at a time would destroy it.',
    message: 'another process has the store in {folder} open: {owner}',
    agent: 'The registry cannot be reached.',
    fix: 'stop that process, or share the store with cordon serve; if no such process exists on any host: rm {name}',
  },
  'request-unauthenticated': {
    when: 'A request has no token, or its token is unknown, expired or revoked.',
    message: 'authentication failed: {problem}',
    agent: 'Authentication at the registry failed.',
    fix: '{fix}',
  },
  'request-too-many': {
    when: 'A caller has reached the limit of open requests at a server.',
    message: '{who} has reached the limit of open requests ({open})',
    agent: 'There are too many open requests to the registry.',
    fix: 'wait for some to end, and retry after Retry-After; one waiting request (Prefer: wait) reports every change',
  },
  'route-missing': {
    when: 'The server has no such path, or not with this method.',
    message: 'not found: {method} {path}',
    agent: 'Not found.',
    fix: 'GET /openapi.json lists all paths',
  },
  'server-unavailable': {
    when: 'A server cannot be reached, does not respond, or sends an invalid response. The request may or may not have been carried out.',
    message: 'the server at {where} cannot be used: {problem}',
    agent: 'The registry cannot be reached.',
    fix: 'check that cordon serve runs there and that the address is right',
  },
  'token-unsafe': {
    when: 'Other users could read the token in its file or on the network.',
    message: 'the token is not used: {problem}',
    agent: 'The registry cannot be reached.',
    fix: '{fix}',
  },
} as const satisfies Readonly<Record<string, ErrorText>>
