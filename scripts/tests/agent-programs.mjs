// The coding agents that packages/core/test/hook tries.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

import { npmPrograms, provideIfStarted } from './npm-programs.mjs'

/** By the name of the program. packages/core/docs/hooks.md names these versions. */
export const AGENT_PACKAGES = {
  claude: '@anthropic-ai/claude-code@2.1.327',
  codex: '@openai/codex@0.169.0',
  gemini: '@google/gemini-cli@0.61.0',
  opencode: 'opencode-ai@1.18.18',
}

const programIn = (modules, name) => join(modules, '.bin', name)

const { installed, provide } = npmPrograms(
  'agents',
  AGENT_PACKAGES,
  (name, modules) => spawnSync(programIn(modules, name), ['--version'], { timeout: 60_000 }).status === 0,
)

/** The path of a program. Undefined if it is not installed. */
export const agentProgram = (name) => {
  const modules = installed(name)
  return modules === undefined ? undefined : programIn(modules, name)
}

export const provideAgents = provide

provideIfStarted(import.meta.url, provide)
