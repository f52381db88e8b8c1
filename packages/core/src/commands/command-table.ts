// The commands of the core, and the table of all commands with their options, from which `docs/cli.md` is written.
import { HOOK_HELP } from '../hook/hook-help.js'
import type { CommandHelp } from '../line/help.js'
import type { Command, CommandSource, ListedCommand, Product } from '../products/product.js'
import { RUN_HELP } from '../run/request/run-options.js'

import {
  APPROVALS_HELP,
  COMPLETION_HELP,
  DEMO_HELP,
  DOCTOR_HELP,
  EXPLAIN_HELP,
  HOST_HELP,
  LOG_HELP,
  POLICY_HELP,
  WHY_HELP,
} from './help-texts.js'

export const COMMANDS: Readonly<Record<string, Command>> = {
  run: { help: RUN_HELP, load: async () => (await import('./run/run.js')).run },
  hook: { help: HOOK_HELP, takesWords: true, load: async () => (await import('./hook/hook.js')).hook },
  policy: { help: POLICY_HELP, takesWords: true, load: async () => (await import('./policy/policy.js')).policy },
  approvals: {
    help: APPROVALS_HELP,
    takesWords: true,
    source: 'approvals',
    load: async () => (await import('./approvals/approvals.js')).approvals,
  },
  log: { help: LOG_HELP, takesWords: true, source: 'log', load: async () => (await import('./log/log.js')).log },
  why: { help: WHY_HELP, takesWords: true, source: 'why', load: async () => (await import('./log/why.js')).why },
  explain: { help: EXPLAIN_HELP, takesWords: true, load: async () => (await import('./explain/explain.js')).explain },
  doctor: { help: DOCTOR_HELP, takesWords: true, load: async () => (await import('./doctor/doctor.js')).doctor },
  host: { help: HOST_HELP, takesWords: true, load: async () => (await import('./host/host.js')).host },
  completion: {
    help: COMPLETION_HELP,
    takesWords: true,
    load: async () => (await import('./completion/completion.js')).completionOf(listCommands),
  },
  demo: { help: DEMO_HELP, load: async () => (await import('./demo/demo.js')).demo },
}

/** An option of the command itself is not shown again. */
export const withSource = (help: CommandHelp, source: CommandSource | undefined): CommandHelp => {
  if (source === undefined) return help
  const own = new Set(help.groups.flatMap(({ options }) => options.map(({ name }) => name)))
  const groups = source.groups.map(({ title, options }) => ({
    title,
    options: options.filter(({ name }) => !own.has(name)),
  }))
  return { ...help, description: [...help.description, ...source.description], groups: [...help.groups, ...groups] }
}

/** Every command of the core and of these packages. */
export const listCommands = (products: readonly Product[]): readonly ListedCommand[] => {
  const sourceOf = ({ source }: Command) =>
    source === undefined
      ? undefined
      : products.find(({ sources }) => sources?.[source] !== undefined)?.sources?.[source]
  const listed = (words: readonly string[], command: Command): readonly ListedCommand[] => [
    { words, command, help: withSource(command.help, sourceOf(command)) },
    ...(command.actions ?? []).flatMap((each) => listed([...words, each.words.join('|')], each.command)),
  ]
  return [COMMANDS, ...products.map(({ commands }) => commands)].flatMap((commands) =>
    Object.entries(commands).flatMap(([name, command]) => listed([name], command)),
  )
}
