// Errors of `cordon serve`, of who asks it, and of the folder that it keeps. See table.ts.
import type { ErrorText } from './error-text.js'

export const SERVER_ERRORS = {
  'store-held': {
    when: 'The folder of an embedded store is open in another process; two at a time would destroy it.',
    message: 'the store in {folder} is open elsewhere: {owner}',
    agent: 'The registry of tools cannot be reached.',
    fix: 'let that process end, or let one keep it for all (cordon serve); if there is no such process any more, on any host: rm {name}',
  },
  'listen-refused': {
    when: 'A server was to listen where others could read along or get in.',
    message: 'not listening on {where}: {problem}',
    agent: 'The registry of tools cannot be reached.',
    fix: '{fix}',
  },
  'request-invalid': {
    when: 'A request cannot be understood: its path, its parameters, its body.',
    message: 'the request cannot be understood: {problem}',
    agent: 'The request cannot be understood: {problem}.',
    fix: '{fix}',
  },
  'request-unauthenticated': {
    when: 'A request shows no token, or one that speaks for nobody (any more).',
    message: 'nobody is known by this request: {problem}',
    agent: 'The registry of tools does not know this caller.',
    fix: '{fix}',
  },
  'request-refused': {
    when: 'A request comes from where none should come (Host, Origin), or from somebody who is no member of the kind that it needs.',
    message: 'the request is refused: {problem}',
    agent: 'The registry of tools refused the request: {problem}.',
    fix: '{fix}',
  },
  'request-too-large': {
    when: 'The body of a request is larger than the server reads.',
    message: 'the body is larger than {limit} bytes',
    agent: 'The request is too large.',
    fix: 'send less, or start the server with a larger --max-body',
  },
  'request-too-many': {
    when: 'Somebody has as many requests open at a server as one may have: being answered, waiting for their turn, or waiting for a change.',
    message: '{who} has {open} requests open, which is as many as it may have',
    agent: 'The registry of tools is asked too much at once.',
    fix: 'let some end first, and ask again after Retry-After; one request that waits (Prefer: wait) hears of every change',
  },
  'route-missing': {
    when: 'There is nothing at the path of a request, or not with its method.',
    message: 'there is no {method} {path}',
    agent: 'There is no such thing.',
    fix: 'GET /openapi.json has everything that there is',
  },
  'server-unavailable': {
    when: 'A server cannot be reached, does not answer, or answers something that is none of its words. What was asked for may or may not have happened.',
    message: 'the server at {where} cannot be used: {problem}',
    agent: 'The registry of tools cannot be reached.',
    fix: 'see that cordon serve runs there and that the address is right',
  },
  'token-unsafe': {
    when: 'A token would be read from where others can read it, or sent where others can read along.',
    message: 'the token is not used: {problem}',
    agent: 'The registry of tools cannot be reached.',
    fix: '{fix}',
  },
} as const satisfies Readonly<Record<string, ErrorText>>
