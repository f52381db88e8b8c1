// Errors of `cordon manifest`. See table.ts.
import type { ErrorText } from './error-text.js'

export const MANIFEST_ERRORS = {
  'manifest-invalid': {
    when: 'A file is no manifest that this version of Cordon can read.',
    message: '{problem}',
    agent: 'The manifest of this project is invalid.',
    fix: 'write it anew: cordon manifest generate',
  },
  'manifest-unreadable': {
    when: 'The file of the manifest that something is to be held against cannot be read.',
    message: 'the manifest {path} cannot be read: {problem}',
    agent: 'The manifest of this project cannot be read.',
    fix: 'name a file that exists; to write one: cordon manifest generate',
  },
  'manifest-exceeded': {
    when: 'A tool, a command or an MCP server is not within the manifest that it is held against.',
    message: '{what} is beyond the manifest {name} ({hash}): {differences}',
    agent: 'This tool may do more than was reviewed.',
    fix: '{fix}',
  },
  'manifest-key-missing': {
    when: 'A manifest has hashes of values, and the key of these hashes cannot be read.',
    message: 'the key of the manifest, {path}, cannot be read: {problem}',
    agent: 'The manifest of this project cannot be checked.',
    fix: 'copy the key from where the manifest was written; or delete the manifest, and write it anew: cordon manifest generate',
  },
  'manifest-key-unmade': {
    when: 'A project has values to hash, and no key for these hashes yet. So its findings have no lasting fingerprints.',
    message: 'the project has no key yet for the hashes of its values: there is no file {path}',
    agent: 'The manifest of this project cannot be checked.',
    fix: 'make it first: {command}',
  },
  'only-described': {
    when: 'Code of a project used its runtime while `cordon manifest` loaded it.',
    message: 'the project is only described here, so nothing runs',
    agent: 'Nothing runs here: the project is only described.',
    fix: 'move the call out of the top level of the module, into a function',
  },
} as const satisfies Readonly<Record<string, ErrorText>>
