// Errors of the registry, its database, its server and its runners.
import { CordonError, ERRORS as CORE_ERRORS, failFrom } from 'cordon/errors'
import type { ErrorText, Fail } from 'cordon/errors'

export const ERRORS = {
  'store-refused': {
    when: 'The registry refused this caller: assignment, profile, budget, stop or self-approval.',
    message: 'refused by the registry: {problem}',
    agent: 'This was refused: {problem}.',
    fix: '{fix}',
  },
  'store-missing': {
    when: 'The registry has no such tool, call or other object.',
    message: 'not found in the registry: {problem}',
    agent: 'Not found: {problem}.',
    fix: '{fix}',
  },
  'store-folder-unusable': {
    when: 'The folder of an embedded store cannot be created or written.',
    message: 'the store cannot be in {folder}: {problem}',
    agent: 'The registry cannot be used.',
    fix: 'name a folder that you can write to: --store DIR, or CORDON_STORE',
  },
  'store-not-found': {
    when: 'The folder has no store. Only `cordon serve` and `cordon team create` create one.',
    message: 'there is no store in {folder}',
    agent: 'The registry cannot be used.',
    fix: 'check the folder (--store, CORDON_STORE); to create a store, run: cordon serve --store {folder} --init TEAM',
  },
  'questions-too-many': {
    when: 'An agent has reached the limit of pending approvals.',
    message: 'too many pending approvals: {problem}',
    agent: 'Too many of your calls wait for approval. Wait for an answer before you make more calls.',
    fix: '{fix}',
  },
  'result-not-kept': {
    when: 'A call has run, but the registry cannot store its result: it is too large, or has a number that is not a double. The call is marked as failed.',
    message: 'the call has run, but its result was not stored: {problem}',
    agent: 'The tool has run, but its result could not be stored: {problem}.',
    fix: 'return less from the tool, or write the result to a file and return its path; the effects of the call remain',
  },
  'store-unavailable': {
    when: 'The database cannot be reached, or closed the connection. The operation may or may not have happened.',
    message: 'the store at {where} cannot be reached: {problem}',
    agent: 'The registry cannot be reached.',
    fix: 'check that the server runs and the URL is right; only one process at a time can open a folder',
  },
  'store-full': {
    when: 'The disk of the database is full. The operation did not happen.',
    message: 'the disk of the store at {where} is full: {problem}',
    agent: 'The registry cannot be written to.',
    fix: 'free at least 32 MB there and try again; restart the process of an embedded store that stopped; committed data is kept; to remove old calls and log entries: cordon log prune',
  },
  'sealing-key-invalid': {
    when: 'The sealing key for stored credentials cannot be used: it is not a key, not the right one, or other users can read it.',
    message: 'the sealing key cannot be used: {problem}',
    agent: 'A credential cannot be read.',
    fix: 'pass the file with the right key, readable only by you (chmod 600): --key FILE; cordon team credentials list shows which key each credential needs',
  },
  'store-busy': {
    when: 'A database statement timed out, waited too long for a lock, or was cancelled because its caller left. It changed nothing.',
    message: 'the store is busy: {problem}',
    agent: 'The registry is busy.',
    fix: 'try again soon; if it stays busy, check the database (select * from pg_stat_activity), or start the server with more --connections or a longer --statement-timeout',
  },
  'store-answer-too-large': {
    when: 'The result of a query is too large: many calls at once, or a call with a very large output.',
    message: 'the result from the registry is too large: {problem}',
    agent: 'The result from the registry is too large.',
    fix: 'ask for less at a time (most), or for one call by its id; or start the server with a larger --max-answer',
  },
  'queue-not-installed': {
    when: 'Runners need graphile-worker, which is an optional package.',
    message: 'graphile-worker is not installed, and runners need it',
    agent: 'The registry cannot be reached.',
    fix: 'install it beside cordon: npm install graphile-worker@0.18',
  },
  'tool-not-as-registered': {
    when: 'The tool of this runtime differs from the registered tool of that name, which is the one that people approve.',
    message: 'the tool "{tool}" of this runtime differs from the registered one (version {version}): {problem}',
    agent: 'This tool differs from the registered one, so it did not run.',
    fix: 'change {tool}.yaml, or the file that it was registered from, to match, then: cordon team tools register {tool}.yaml; or use the tool as it is registered: cordon team tools show {tool}; of a file of tools for runners: cordon runner --tools FILE --registration {tool} > {tool}.json && cordon team tools register {tool}.json',
  },
  'tool-not-for-this-host': {
    when: 'A tool needs labels or mechanisms that this host does not have.',
    message: 'the tool "{tool}" cannot run in this process: {problem}',
    agent: 'This tool cannot run on this host.',
    fix: 'let runners on other hosts run it (execution: "runners" of the registry), or add the label here (labels of the registry); cordon doctor says why a mechanism is missing',
  },
  'store-not-prepared': {
    when: 'The database has no Cordon schema, or an older one. Only `cordon runner --prepare`, `cordon serve` and `migrate` change that.',
    message: 'the database at {where} is not prepared: {problem}',
    agent: 'The registry cannot be used.',
    fix: 'check that the URL names the right database; if so, run once and after every update, with a login that may create schemas and roles: cordon runner --prepare --database URL (from code: await migrate(engine)); nothing was changed',
  },
  'store-newer': {
    when: 'The database was made by a newer version of Cordon.',
    message: 'the database has migration {found}, but this version knows only up to {known}',
    agent: 'The registry cannot be used.',
    fix: 'update cordon here; nothing was changed',
  },
  'store-differs': {
    when: 'An applied migration differs from the one in this version.',
    message: 'migration {number} of the database differs from the one in this version',
    agent: 'The registry cannot be used.',
    fix: 'use the version of cordon that created it, or a new database; nothing was changed',
  },
  // runners
  'runner-queue-missing': {
    when: 'The database is not prepared for runners, and this login may not prepare it.',
    message: 'the database at {where} has no queue for runners',
    agent: 'Tools are not available.',
    fix: 'run once, with a login that may create schemas: cordon runner --prepare --database URL',
  },
  'runner-failed': {
    when: 'A call failed on a runner on another host.',
    message: 'on the runner {runner}: {problem}',
    agent: '{reason}',
  },
  'runner-lost': {
    when: 'A runner could not reach the database until its lease ended, so it killed its calls.',
    message:
      'the runner {runner} could not reach the registry for {seconds} s and killed the call; another runner may claim it',
    agent: 'The host that ran the tool lost its connection, and the call was killed.',
  },
  // the server, its clients, and the folder of an embedded store
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

/** Every code that a client of a server can meet. */
export const ALL_ERRORS = { ...CORE_ERRORS, ...ERRORS } as const

export const fail: Fail<typeof ALL_ERRORS> = failFrom(ALL_ERRORS)

const AWAY: ReadonlySet<string> = new Set([
  'store-unavailable',
  'store-full',
  'store-busy',
  'server-unavailable',
  'request-too-many',
])

/** The registry was not reached, or was too busy. A retry may succeed. */
export const isAway = (error: unknown): boolean => error instanceof CordonError && AWAY.has(error.code)
