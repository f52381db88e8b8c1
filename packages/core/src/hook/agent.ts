// What `cordon hook` knows about a coding agent. Everything else about an agent is in its file of agents/.
import type { JsonObject } from '../gate/index.js'

import type { Environment } from '../line/arguments.js'

/** One call that an agent is about to make, in the words of Cordon. */
export interface AgentCall {
  /** The agent's own name of the tool. */
  readonly tool: string
  readonly action: ToolAction
  /** The folder of the project, as the agent's user chose it. Undefined if the agent does not say. */
  readonly workspace: string | undefined
  readonly cwd: string
  /** Folders in which the agent keeps outputs of this session for the model. File tools may read single files there. */
  readonly outputs?: readonly string[]
}

export type ToolAction =
  | { readonly kind: 'shell'; readonly command: string }
  /** A tool of the agent that opens these paths itself. No cell confines it. */
  | {
      readonly kind: 'files'
      readonly read: readonly string[]
      readonly write: readonly string[]
      readonly searched?: readonly Search[]
    }
  /** A tool that touches neither files nor network, such as a list of tasks. */
  | { readonly kind: 'harmless' }
  /** Any other tool: of an MCP server, or unknown. `known`: what it does, as the end of a sentence. */
  | { readonly kind: 'other'; readonly input: JsonObject; readonly known: string | undefined }

/** A tool that takes what it finds beneath a path of `read`. */
export interface Search {
  readonly path: string
  /** `names`: it shows only names. */
  readonly takes: 'names' | 'contents'
}

export type Verdict =
  /** `command`: runs in place of the agent's command. `isAllowed`: the agent need not ask its user. */
  | { readonly kind: 'run'; readonly command: string | undefined; readonly isAllowed: boolean }
  | { readonly kind: 'ask'; readonly command: string | undefined; readonly reason: string }
  | { readonly kind: 'deny'; readonly reason: string }

/** Written to the agent. */
export interface Answer {
  readonly stdout: string
  readonly stderr: string
  readonly status: number
}

export interface Agent {
  readonly name: string
  readonly title: string
  /** `false`: it runs a call whose hook says "ask", or has no word for it. Then Cordon denies. */
  readonly canAsk: (message: JsonObject) => boolean
  /** Throws `hook-input-unreadable` if the message is not one that it knows. */
  readonly parse: (message: JsonObject, environment: Environment) => AgentCall
  /** Why a command could not start a cell where this agent runs it, with the fix. */
  readonly cellProblem?: (message: JsonObject) => { readonly problem: string; readonly fix: string } | undefined
  readonly answer: (verdict: Verdict, message: JsonObject) => Answer
  readonly settings: AgentSettings
  /** What the agent does not let a hook hold, for people. */
  readonly notHeld: readonly string[]
}

/** Where and how the hook is installed. */
export interface AgentSettings {
  /** By scope. `managed`: for all users of the machine. Neither a project nor an ordinary user can change it. */
  readonly files: Readonly<Record<'project' | 'user', string>> & { readonly managed?: string }
  /** The file of a project is one that teams commit. The line in it names no path of this machine. */
  readonly isProjectShared?: true
  /** A variable that puts another path in the place of the start `from`: CODEX_HOME. */
  readonly moved?: readonly { readonly variable: string; readonly from: string }[]
  /** Adds the hook to a text of the file, or removes it. */
  readonly edit: (text: string, path: string, change: HookChange) => string
  /** The installed command. Undefined if there is none. */
  readonly find: (text: string, path: string) => string | undefined
  /** Whether everything of the hook in a text is as it was installed: the agent may not call another entry. */
  readonly isAsInstalled: (text: string, path: string, command: string) => boolean
}

/** An installed hook, and where its agent is started. */
export interface HookAt {
  readonly agent: Agent
  readonly scope: Scope
  /** The settings file that has the hook. */
  readonly file: string
  readonly command: string
  /** The folder in which the agent is started. */
  readonly folder: string
  readonly environment: Environment
}

/** Why an agent does not call an installed hook, or not as Cordon expects. */
export interface Obstacle {
  readonly problem: string
  readonly fix: string
}

/** A test for one obstacle each. Those that do not stand in the way are left out. */
export type Obstacles = readonly (Obstacle | false | undefined)[]

export const SCOPES = ['project', 'user', 'managed'] as const
export type Scope = (typeof SCOPES)[number]

/** ` --user`, as it stands behind the name of the agent. */
export const scopeOption = (scope: Scope): string => (scope === 'project' ? '' : ` --${scope}`)

export type HookChange = { readonly scope: Scope } & (
  { readonly kind: 'install'; readonly command: string } | { readonly kind: 'remove' }
)
