// The version of an agent, from the files around its program. Nothing is started.
import { dirname, join } from 'node:path'

import { jsonOfFile, realPathOf } from '../../platform/index.js'
import { lookUp } from '../../sandbox/index.js'
import { isMapping } from '../../shapes/index.js'

import type { HookAt, Obstacles } from '../agent.js'

interface AgentProgram {
  readonly program: string
  /** Its package of npm. Packages with the binary of one platform add to this name. */
  readonly packageName: string
  /** The oldest version whose hooks were seen to hold. */
  readonly oldest: string
}

const PROGRAMS: Readonly<Record<string, AgentProgram>> = {
  'claude-code': { program: 'claude', packageName: '@anthropic-ai/claude-code', oldest: '2.1.197' },
  'codex': { program: 'codex', packageName: '@openai/codex', oldest: '0.166.0' },
  'gemini': { program: 'gemini', packageName: '@google/gemini-cli', oldest: '0.61.0' },
  'opencode': { program: 'opencode', packageName: 'opencode-ai', oldest: '1.18.18' },
}

export const versionObstacles = ({ agent, environment }: HookAt): Obstacles => {
  const known = Object.hasOwn(PROGRAMS, agent.name) ? PROGRAMS[agent.name] : undefined
  if (known === undefined)
    return [
      {
        problem: `Cordon was not tried with the real ${agent.title}, and cannot see whether it calls the hook`,
        fix: 'let the agent run a command, and look for it: cordon log show',
      },
    ]
  const { program, packageName, oldest } = known
  const path = lookUp(program, environment['PATH'] ?? '')
  const version = path === undefined ? undefined : versionAt(path, packageName)
  return [
    path !== undefined &&
      version !== undefined &&
      isOlder(version, oldest) && {
        problem: `${path} is version ${version}, older than ${oldest}, the oldest one that Cordon was tried with`,
        fix: `update ${agent.title}`,
      },
  ]
}

const VERSION = /^v?(?<version>\d+\.\d+\.\d+)(?:[-+].*)?$/

/** From the package of the program, or from a folder or file that has the version as its name. */
const versionAt = (path: string, packageName: string): string | undefined => {
  const real = realPathOf(path)
  if (real === undefined) return undefined
  const named = real
    .split('/')
    .map((name) => VERSION.exec(name)?.groups?.['version'])
    .findLast((version) => version !== undefined)
  for (let folder = dirname(real); folder !== dirname(folder); folder = dirname(folder)) {
    const manifest = jsonOfFile(join(folder, 'package.json'))
    const { name, version } = isMapping(manifest) ? manifest : {}
    if (typeof name === 'string' && name.startsWith(packageName) && typeof version === 'string') return version
    if (name !== undefined) break
  }
  return named
}

export const isOlder = (version: string, than: string): boolean => {
  const numbers = (text: string) => text.split(/[.+-]/, 3).map(Number)
  const [have, wanted] = [numbers(version), numbers(than)]
  const at = wanted.findIndex((number, index) => number !== have[index])
  return at !== -1 && (have[at] ?? 0) < (wanted[at] ?? 0)
}
