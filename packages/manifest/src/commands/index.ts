// What @cordon/manifest adds to the command line of Cordon.
import { action } from 'cordon/commands'
import type { CommandAction, Product } from 'cordon/commands'

import { ERRORS } from '../errors/errors.js'
import { GENERATE_HELP, INSPECT_HELP, MANIFEST_HELP, SUGGEST_HELP, VERIFY_HELP } from './manifest-help.js'

/** A registry has the versions of tools. */
const withVersions = ({ words, command }: CommandAction): CommandAction => ({
  words,
  command: { ...command, source: 'tool versions' },
})

export const PRODUCT: Product = {
  errors: ERRORS,
  commands: {
    manifest: {
      help: MANIFEST_HELP,
      takesWords: true,
      load: async () => (await import('./manifest.js')).manifest,
      actions: [
        withVersions(action('generate', GENERATE_HELP, async () => (await import('./generate.js')).generate)),
        withVersions(action('inspect', INSPECT_HELP, async () => (await import('./inspect.js')).inspect)),
        action('suggest', SUGGEST_HELP, async () => (await import('./suggest.js')).suggest),
        withVersions(action('verify', VERIFY_HELP, async () => (await import('./verify.js')).verifyProject)),
      ],
    },
  },
}
