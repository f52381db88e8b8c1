// Errors of the store: registry, approvals and invocations. See table.ts.
import type { ErrorText } from './error-text.js'

export const STORE_ERRORS = {
  'store-refused': {
    when: 'The database does not allow it to this caller, or not now: assignment, profile, budget, kill switch, self-approval.',
    message: 'refused by the store: {problem}',
    agent: 'This was refused: {problem}.',
    fix: '{fix}',
  },
  'store-missing': {
    when: 'A tool, an invocation or something else that was named is not in the store.',
    message: 'not in the store: {problem}',
    agent: 'It does not exist: {problem}.',
    fix: '{fix}',
  },
  'store-not-found': {
    when: 'A command names a folder that has no store, or none is named and the default folder has none. Only `cordon serve` and `cordon team create` make one.',
    message: 'there is no store in {folder}',
    agent: 'The registry of tools cannot be used.',
    fix: 'see that the folder is right (--store, CORDON_STORE); a new store is made by: cordon serve --store {folder} --init TEAM',
  },
  'store-state': {
    when: 'What was asked for does not fit the state of the row, or its input does not fit its schema.',
    message: 'not possible: {problem}',
    agent: 'Not possible: {problem}.',
    fix: '{hint}',
  },
  'questions-too-many': {
    when: 'An agent has as many questions waiting for people as it may have, and asks for a call that needs another one.',
    message: 'too many questions are waiting: {problem}',
    agent: 'Too many of your calls wait for an approval. Wait for an answer before you ask for more.',
    fix: '{fix}',
  },
  'result-not-kept': {
    when: 'A call has run, and the store does not take what came out of it: it is too large, or has a number that is no double. The call is failed there.',
    message: 'the call has run, and its result was not kept: {problem}',
    agent: 'The tool has run, and its result could not be kept: {problem}.',
    fix: 'let the tool answer less, or write the result to a file and answer where it is; what it did is done',
  },
  'store-unavailable': {
    when: 'The database cannot be reached, or broke the connection. What was asked for may or may not have happened.',
    message: 'the store at {where} cannot be reached: {problem}',
    agent: 'The registry of tools cannot be reached.',
    fix: 'see that the server runs and the URL is right; a folder can be opened by one process at a time',
  },
  'store-full': {
    when: 'The disk of the database is full. What was asked for has not happened.',
    message: 'the disk of the store at {where} is full: {problem}',
    agent: 'The registry of tools cannot be written to.',
    fix: 'free some space there, at least 32 MB, and ask again; an embedded store that ended is begun again with its process. What was committed before is kept. Old calls and entries go with: cordon log prune',
  },
  'sealing-key-invalid': {
    when: 'A key that credentials in the store are sealed with cannot be used: it is no key, another one, or not only its user\'s.',
    message: 'the key of the credentials cannot be used: {problem}',
    agent: 'A credential cannot be read.',
    fix: 'name the file with the key that they were sealed with, readable by its user alone (chmod 600): --key FILE; cordon credentials list shows which key each needs',
  },
  'store-busy': {
    when: 'A statement took longer than it may, waited too long for what another one holds, or was given up because nobody waits for it any more. It changed nothing.',
    message: 'the store is busy: {problem}',
    agent: 'The registry of tools is busy.',
    fix: 'ask again in a moment; where it stays like that, see what the database does (select * from pg_stat_activity), or start the server with more --connections or a longer --statement-timeout',
  },
  'store-answer-too-large': {
    when: 'The database has more to say than is read of one answer: many calls at once, or a call with a very large output.',
    message: 'the answer of the store is too large: {problem}',
    agent: 'The registry of tools has more to say than can be told at once.',
    fix: 'ask for less at a time (most), or for one call by its id; or start the server with a larger --max-answer',
  },
  'queue-not-installed': {
    when: 'Runners take calls through graphile-worker, which is installed by who has runners.',
    message: 'graphile-worker is not installed, through which runners take their calls',
    agent: 'The registry of tools cannot be reached.',
    fix: 'install it beside cordon: npm install graphile-worker@0.18',
  },
  'tool-not-as-registered': {
    when: 'A runtime has another tool than the registration of the same name, which is what people approve.',
    message: 'the tool "{tool}" of this runtime is not the one that is registered (version {version}): {problem}',
    agent: 'This tool is not the one that was registered, and was not run.',
    fix: 'change {tool}.yaml, or the file that it was registered from, to match, then: cordon tools register {tool}.yaml; or use the tool as it is registered: cordon tools show {tool}; of a file of tools for runners: cordon runner --tools FILE --registration {tool} > {tool}.json && cordon tools register {tool}.json',
  },
  'tool-not-for-this-host': {
    when: 'A runtime that runs its calls itself is asked for a tool that needs labels or mechanisms which its host does not have.',
    message: 'the tool "{tool}" cannot be run by this process: {problem}',
    agent: 'This tool cannot be run on this host.',
    fix: 'leave it to hosts that have it (execution: "runners" of the registry), or give this one the label (labels of the registry); cordon doctor says why a mechanism does not hold',
  },
  'store-not-prepared': {
    when: 'A database has no schema of Cordon in it, or an older one. Only `cordon runner --prepare`, `cordon serve` and `migrate` change that.',
    message: 'the database at {where} is not prepared: {problem}',
    agent: 'The registry of tools cannot be used.',
    fix: 'see that the URL names the right database; if so, once and after every update, with a login that may create schemas and roles: cordon runner --prepare --database URL (from code: await migrate(engine)); nothing was changed',
  },
  'store-newer': {
    when: 'The database was made by a newer version of Cordon.',
    message: 'the store has migration {found}, and this version knows up to {known}',
    agent: 'The registry of tools cannot be used.',
    fix: 'update cordon here; nothing was changed',
  },
  'store-differs': {
    when: 'A migration that was applied is not the one that this version has under the same number.',
    message: 'migration {number} of the store is not the one that this version knows',
    agent: 'The registry of tools cannot be used.',
    fix: 'use the version of cordon that made it, or a new database; nothing was changed',
  },
} as const satisfies Readonly<Record<string, ErrorText>>
