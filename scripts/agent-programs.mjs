// Installs the coding agents that test/hook tries, in a folder outside of this repository: they are large programs of
// others, and no dependency of Cordon.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** By the name of the program. docs/hooks.md names these versions. */
export const AGENT_PACKAGES = { claude: '@anthropic-ai/claude-code@2.1.325', codex: '@openai/codex@0.166.0' }

const FOLDER = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'cordon-tests', 'agents')

/** A folder for each version, so that one that is half installed is not taken for another. */
const folderOf = (name) => join(FOLDER, AGENT_PACKAGES[name].replaceAll('/', '+'))
const isDone = (name) => existsSync(join(folderOf(name), 'done'))

/** The path of a program. Undefined if it is not installed. */
export const agentProgram = (name) => (isDone(name) ? join(folderOf(name), 'node_modules', '.bin', name) : undefined)

const install = (name) => {
  const folder = folderOf(name)
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n')
  const words = ['install', '--no-audit', '--no-fund', '--loglevel=error', AGENT_PACKAGES[name]]
  spawnSync('npm', words, { cwd: folder, stdio: 'inherit', timeout: 600_000 })
  const program = join(folder, 'node_modules', '.bin', name)
  if (spawnSync(program, ['--version'], { timeout: 60_000 }).status === 0) writeFileSync(join(folder, 'done'), '')
}

/** Returns the packages that could not be installed. */
export const provideAgents = () => {
  const names = Object.keys(AGENT_PACKAGES)
  for (const name of names.filter((each) => !isDone(each))) install(name)
  return names.filter((each) => !isDone(each)).map((name) => AGENT_PACKAGES[name])
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const missing = provideAgents()
  if (missing.length > 0) process.stderr.write(`agent-programs: npm could not install ${missing.join(' ')}\n`)
  process.exitCode = missing.length === 0 ? 0 : 1
}
