import type { Environment } from '../../line/command-line.js'
import type { Agent, Scope } from '../agent.js'

/** Why an agent does not call an installed hook, or not as Cordon expects. */
export interface Obstacle {
  readonly problem: string
  readonly fix: string
}

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
