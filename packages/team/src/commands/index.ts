// What @cordon/team adds to the command line of Cordon.
import { action } from 'cordon/commands'
import type { CommandAction, CommandHelp, Product } from 'cordon/commands'

import { ERRORS } from '../errors/errors.js'
import {
  APPROVALS_HELP,
  CALLS_HELP,
  CREDENTIALS_HELP,
  LOG_SOURCE_HELP,
  RUNNER_HELP,
  RUNS_HELP,
  SERVE_HELP,
  TEAM_HELP,
  TOKENS_HELP,
  TOOLS_HELP,
  VERSIONS_SOURCE_HELP,
  WHY_SOURCE_HELP,
} from './help.js'

/** `cordon team WORD`, a command with actions of its own. */
const named = (word: string, help: CommandHelp, load: CommandAction['command']['load']): CommandAction => ({
  ...action(word, help, load),
  isNamed: true,
})

export const PRODUCT: Product = {
  errors: ERRORS,
  commands: {
    team: {
      help: TEAM_HELP,
      takesWords: true,
      load: async () => (await import('./team.js')).team,
      actions: [
        named('tools', TOOLS_HELP, async () => (await import('./tools.js')).tools),
        named('calls', CALLS_HELP, async () => (await import('./calls.js')).calls),
        named('runs', RUNS_HELP, async () => (await import('./runs.js')).runs),
        named('tokens', TOKENS_HELP, async () => (await import('./tokens.js')).tokens),
        named('credentials', CREDENTIALS_HELP, async () => (await import('./credentials.js')).credentials),
      ],
    },
    serve: { help: SERVE_HELP, takesWords: true, load: async () => (await import('./serve.js')).serve },
    runner: { help: RUNNER_HELP, load: async () => (await import('./runner.js')).runner },
  },
  sources: {
    'approvals': {
      description: APPROVALS_HELP.description,
      groups: APPROVALS_HELP.groups,
      load: async () => (await import('./approvals.js')).approvals,
    },
    'log': { ...LOG_SOURCE_HELP, load: async () => (await import('./sources/log-stored.js')).logStored },
    'why': { ...WHY_SOURCE_HELP, load: async () => (await import('./sources/why-stored.js')).whyStored },
    'tool versions': VERSIONS_SOURCE_HELP,
  },
  toolVersions: async (line, command) => (await import('./sources/tool-versions.js')).toolVersions(line, command),
}
