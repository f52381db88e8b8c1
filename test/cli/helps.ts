// The help of every command, which also defines how its arguments are read.
import { readFileSync } from 'node:fs'

import { expect } from 'vitest'

import { APPROVALS_HELP } from '../../packages/team/src/commands/approvals-help.js'
import { parseArguments, parseScattered } from '../../packages/core/src/line/arguments.js'
import type { Arguments } from '../../packages/core/src/line/arguments.js'
import { CALLS_HELP } from '../../packages/team/src/commands/calls-help.js'
import { CREDENTIALS_HELP } from '../../packages/team/src/commands/credentials-help.js'
import { DEMO_HELP } from '../../packages/core/src/commands/demo/demo-help.js'
import { DOCTOR_HELP } from '../../packages/core/src/commands/doctor/doctor-help.js'
import type { CommandHelp } from '../../packages/core/src/line/help.js'
import { HOOK_HELP } from '../../packages/core/src/hook/hook-help.js'
import { LOG_HELP } from '../../packages/core/src/commands/log/log-help.js'
import { MANIFEST_HELP } from '../../packages/manifest/src/commands/manifest-help.js'
import { MCP_HELP } from '../../packages/mcp/src/commands/mcp-help.js'
import { POLICY_HELP } from '../../packages/core/src/commands/policy/policy-help.js'
import { RUN_HELP } from '../../packages/core/src/run/request/run-options.js'
import { RUNS_HELP } from '../../packages/team/src/commands/runs-help.js'
import { RUNNER_HELP } from '../../packages/team/src/commands/runner-help.js'
import { SERVE_HELP } from '../../packages/team/src/commands/serve-help.js'
import { TEAM_HELP } from '../../packages/team/src/commands/team-help.js'
import { TOKENS_HELP } from '../../packages/team/src/commands/tokens-help.js'
import { TOOLS_HELP } from '../../packages/team/src/commands/tools-help.js'
import { WHY_HELP } from '../../packages/core/src/commands/log/why-help.js'

/** In the order of docs/cli.md. */
export const HELPS: Readonly<Record<string, CommandHelp>> = {
  run: RUN_HELP,
  mcp: MCP_HELP,
  hook: HOOK_HELP,
  doctor: DOCTOR_HELP,
  policy: POLICY_HELP,
  manifest: MANIFEST_HELP,
  log: LOG_HELP,
  why: WHY_HELP,
  serve: SERVE_HELP,
  approvals: APPROVALS_HELP,
  tools: TOOLS_HELP,
  calls: CALLS_HELP,
  runs: RUNS_HELP,
  team: TEAM_HELP,
  tokens: TOKENS_HELP,
  credentials: CREDENTIALS_HELP,
  runner: RUNNER_HELP,
  demo: DEMO_HELP,
}

const MAIN = readFileSync(new URL('../../packages/core/src/commands/dispatch.ts', import.meta.url), 'utf8')
const KNOWN = Array.from(MAIN.matchAll(/^ {2}([a-z]+): \{\s+help: /gm), ([, name = '']) => name)

/** A command is in the list here when it is in that of the program. */
export const expectAllCommands = (): void => {
  expect([...KNOWN].sort()).toEqual(Object.keys(HELPS).sort())
}

/** Reads words as the command does; an option that it does not have is an error. */
export const readAs = (command: string, words: readonly string[]): Arguments => {
  const help = HELPS[command] ?? expect.fail(`there is no cordon ${command}`)
  return (command === 'run' ? parseArguments : parseScattered)(words, help, `cordon ${command}`)
}
