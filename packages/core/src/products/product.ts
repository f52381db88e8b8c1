// The contract of the command line with the packages around the core. Each exports its `PRODUCT` from `./commands`.
import type { Logins } from '../egress/index.js'
import type { ErrorTable } from '../errors/index.js'
import type { ManifestKey, ManifestServer } from '../manifest/index.js'
import type { AbsolutePath } from '../policy/index.js'

import type { Environment } from '../line/arguments.js'
import type { CommandLine } from '../line/caller.js'
import type { CommandHelp } from '../line/help.js'
import type { EgressOrder } from '../settings/egress-order.js'

export interface Command {
  readonly help: CommandHelp
  /** Loaded when it is used, so that `cordon run` starts fast. */
  readonly load: () => Promise<(line: CommandLine) => Promise<number>>
  /** Its options may stand anywhere among its words, and it has its own exit statuses (`reportRefusal`). */
  readonly takesWords?: true
  /** A package around the core may have records for it, and options that name them. */
  readonly source?: SourceName
  /** Other commands for some first words. */
  readonly actions?: readonly CommandAction[]
}

/** A command as somebody writes it: its first words, and its help with the options that packages add. */
export interface ListedCommand {
  /** `['team', 'tools']`. Some words have the same help: `['mcp', 'login|logout']`. */
  readonly words: readonly string[]
  readonly command: Command
  readonly help: CommandHelp
}

export interface CommandAction {
  readonly words: readonly string[]
  readonly command: Command
  /** The first word is part of the command's name, as in `cordon team tools`, and not one of its words. */
  readonly isNamed?: true
}

/** What a package has records of. */
export type SourceName = 'approvals' | 'log' | 'why' | 'tool versions'

/** Records of a package, for a command that has records of its own. */
export interface CommandSource {
  readonly description: readonly string[]
  readonly groups: CommandHelp['groups']
  /** The exit status. Undefined: the words are not about these records. */
  readonly load?: () => Promise<(line: CommandLine) => Promise<number | undefined>>
}

/** Which project a manifest is about. */
export interface DescribedProject {
  readonly folder: AbsolutePath
  readonly home: AbsolutePath
  /** Values that may be secrets are hashed with it. */
  readonly key: ManifestKey
}

export interface Product {
  /** The codes of its own errors, for `cordon explain`. */
  readonly errors: ErrorTable
  readonly commands: Readonly<Record<string, Command>>
  readonly sources?: Readonly<Partial<Record<SourceName, CommandSource>>>
  /** Where tokens of `login:URL` come from. */
  readonly logins?: (environment: Environment, order: EgressOrder) => Promise<Logins>
  /** The MCP servers of a file with "mcpServers", for a manifest. `name`: as the project writes it. */
  readonly describeServers?: (
    file: { readonly path: string; readonly name: string },
    project: DescribedProject,
  ) => Promise<readonly ManifestServer[]>
  /** The versions of registered tools by their names. Undefined: the words name no registry. */
  readonly toolVersions?: (line: CommandLine, command: string) => Promise<ReadonlyMap<string, number> | undefined>
}

/** A command for one first word, whose options may stand anywhere. */
export const action = (word: string, help: CommandHelp, load: Command['load']): CommandAction => ({
  words: [word],
  command: { help, load, takesWords: true },
})
