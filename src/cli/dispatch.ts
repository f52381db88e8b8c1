// The commands of `cordon`, and the choice of one by the first word.
import { CordonError, fail } from '../errors/index.js'
import { nearestKey } from '../policy/index.js'

import { APPROVALS_HELP } from './team/approvals-help.js'
import { parseArguments, parseScattered } from './arguments.js'
import { CALLS_HELP } from './team/calls-help.js'
import type { CommandLine, Environment } from './command-line.js'
import type { CommandHelp } from './help.js'
import { renderHelp, renderList } from './help.js'
import { STDOUT, writeText } from './text/console-text.js'
import { CREDENTIALS_HELP } from './team/credentials-help.js'
import { DEMO_HELP } from './demo/demo-help.js'
import { DOCTOR_HELP } from './doctor/doctor-help.js'
import { reportFailure, reportRefusal } from './failure.js'
import { HOOK_HELP } from './hook/hook-help.js'
import { LOG_HELP } from './log/log-help.js'
import { GENERATE_HELP } from './manifest/generate-help.js'
import { INSPECT_HELP } from './manifest/inspect-help.js'
import { MANIFEST_HELP } from './manifest/manifest-help.js'
import { SUGGEST_HELP } from './manifest/suggest-help.js'
import { VERIFY_HELP } from './manifest/verify-help.js'
import { MCP_HELP } from './mcp/mcp-help.js'
import { MCP_LOGIN_ACTIONS, MCP_LOGIN_HELP } from './mcp-login/mcp-login-help.js'
import { MCP_SETUP_ACTIONS, MCP_SETUP_HELP } from './mcp-setup/mcp-setup-help.js'
import { POLICY_HELP } from './policy/policy-help.js'
import { RUNNER_HELP } from './team/runner-help.js'
import { RUN_HELP } from './request/run-options.js'
import { RUNS_HELP } from './team/runs-help.js'
import { SERVE_HELP } from './team/serve-help.js'
import { TEAM_HELP } from './team/team-help.js'
import { TOKENS_HELP } from './team/tokens-help.js'
import { TOOLS_HELP } from './team/tools-help.js'
import { version } from './text/version.js'
import { WHY_HELP } from './log/why-help.js'

interface Command {
  readonly help: CommandHelp
  /** Loaded when it is used, so that `cordon run` starts fast. */
  readonly load: () => Promise<(line: CommandLine) => Promise<number>>
  /** Its options may stand anywhere among its words, and it has its own exit statuses (`reportRefusal`). */
  readonly takesWords?: true
  /** Another command for some first words. */
  readonly actions?: readonly { readonly words: readonly string[]; readonly command: Command }[]
}

/** A command for one first word, whose options may stand anywhere. */
const action = (word: string, help: CommandHelp, load: Command['load']) => ({
  words: [word],
  command: { help, load, takesWords: true } as const,
})

const COMMANDS: Readonly<Record<string, Command>> = {
  run: { help: RUN_HELP, load: async () => (await import('./run/run.js')).run },
  mcp: {
    help: MCP_HELP,
    load: async () => (await import('./mcp/mcp.js')).mcp,
    actions: [
      {
        words: MCP_SETUP_ACTIONS,
        command: {
          help: MCP_SETUP_HELP,
          takesWords: true,
          load: async () => (await import('./mcp-setup/mcp-setup.js')).mcpSetup,
        },
      },
      {
        words: MCP_LOGIN_ACTIONS,
        command: {
          help: MCP_LOGIN_HELP,
          takesWords: true,
          load: async () => (await import('./mcp-login/mcp-login.js')).mcpLogin,
        },
      },
    ],
  },
  hook: { help: HOOK_HELP, takesWords: true, load: async () => (await import('./hook/hook.js')).hook },
  doctor: { help: DOCTOR_HELP, takesWords: true, load: async () => (await import('./doctor/doctor.js')).doctor },
  policy: { help: POLICY_HELP, takesWords: true, load: async () => (await import('./policy/policy.js')).policy },
  manifest: {
    help: MANIFEST_HELP,
    takesWords: true,
    load: async () => (await import('./manifest/manifest.js')).manifest,
    actions: [
      action('generate', GENERATE_HELP, async () => (await import('./manifest/generate.js')).generate),
      action('inspect', INSPECT_HELP, async () => (await import('./manifest/inspect.js')).inspect),
      action('suggest', SUGGEST_HELP, async () => (await import('./manifest/suggest.js')).suggest),
      action('verify', VERIFY_HELP, async () => (await import('./manifest/verify.js')).verifyProject),
    ],
  },
  log: { help: LOG_HELP, takesWords: true, load: async () => (await import('./log/log.js')).log },
  why: { help: WHY_HELP, takesWords: true, load: async () => (await import('./log/why.js')).why },
  serve: { help: SERVE_HELP, takesWords: true, load: async () => (await import('./team/serve.js')).serve },
  approvals: {
    help: APPROVALS_HELP,
    takesWords: true,
    load: async () => (await import('./team/approvals.js')).approvals,
  },
  tools: { help: TOOLS_HELP, takesWords: true, load: async () => (await import('./team/tools.js')).tools },
  calls: { help: CALLS_HELP, takesWords: true, load: async () => (await import('./team/calls.js')).calls },
  runs: { help: RUNS_HELP, takesWords: true, load: async () => (await import('./team/runs.js')).runs },
  team: { help: TEAM_HELP, takesWords: true, load: async () => (await import('./team/team.js')).team },
  tokens: { help: TOKENS_HELP, takesWords: true, load: async () => (await import('./team/tokens.js')).tokens },
  credentials: {
    help: CREDENTIALS_HELP,
    takesWords: true,
    load: async () => (await import('./team/credentials.js')).credentials,
  },
  runner: { help: RUNNER_HELP, load: async () => (await import('./team/runner.js')).runner },
  demo: { help: DEMO_HELP, load: async () => (await import('./demo/demo.js')).demo },
}

const generalHelp = (): string =>
  [
    'usage: cordon COMMAND [options]',
    '',
    'Runs each tool call of an AI agent in its own sandbox, with exactly the rights that it was given.',
    '',
    ...renderList(Object.entries(COMMANDS).map(([name, { help }]) => [name, help.summary])),
    '',
    '`cordon COMMAND --help` explains a command, `cordon --version` prints the version.',
    '',
  ].join('\n')

const print = (text: string): number => {
  writeText(STDOUT, text)
  return 0
}

const HELP_WORDS: ReadonlySet<string | undefined> = new Set(['--help', '-h'])

const commandOf = (name: string): Command | undefined => (Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined)

/** The answer to words that ask only for help or the version. */
export const answerOf = ([name, ...words]: readonly string[]): string | undefined => {
  if (name === undefined || HELP_WORDS.has(name)) return generalHelp()
  if (name === '--version' || name === '-V' || name === '-v') return `cordon ${version()}\n`
  if (name === 'help') return words[0] === undefined ? generalHelp() : answerOf([words[0], '--help'])
  const command = commandOf(name)
  return words.length === 1 && HELP_WORDS.has(words[0]) && command !== undefined ? renderHelp(command.help) : undefined
}

/** Words whose answers bin/cordon.js prints without any other code, because scripts/bundle.mjs has written them. */
export const PREPARED_WORDS: readonly (readonly string[])[] = [
  ...[[], ['--help'], ['--version']],
  ...Object.keys(COMMANDS).map((name) => [name, '--help']),
]

const perform = async (given: readonly string[], environment: Environment): Promise<number> => {
  const answer = answerOf(given)
  if (answer !== undefined) return print(answer)
  const [name = '', ...words] = given[0] === 'help' ? given.slice(1) : given
  const found = commandOf(name)
  if (found === undefined) throw unknown(name)
  const {
    help,
    load,
    takesWords = false,
  } = found.actions?.find((each) => each.words.includes(words[0] ?? ''))?.command ?? found
  try {
    const line = (takesWords ? parseScattered : parseArguments)(words, help, `cordon ${name}`)
    if (line.switches.has('help')) return print(renderHelp(help))
    return await (
      await load()
    )({ given: line, environment })
  } catch (error) {
    if (!takesWords || !(error instanceof CordonError)) throw error
    return reportRefusal(error, environment)
  }
}

const unknown = (name: string) => {
  const what = name.startsWith('-') ? 'option' : 'command'
  const near = nearestKey(name.replace(/^-+/, ''), what === 'option' ? ['help', 'version'] : Object.keys(COMMANDS))
  const hint =
    near === undefined ? 'see: cordon --help' : `did you mean ${what === 'option' ? '--' : 'cordon '}${near}?`
  return fail('usage-error', { problem: `unknown ${what} ${name}`, fix: hint })
}

/** Runs a command line, and prints errors on stderr. Returns the exit status. */
export const dispatch = async (words: readonly string[], environment: Environment): Promise<number> => {
  try {
    return await perform(words, environment)
  } catch (error) {
    return reportFailure(error, environment)
  }
}
