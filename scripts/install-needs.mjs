import { spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync, readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'

import { provideAgents } from './agent-programs.mjs'
import { SHORT_GUESTS, provideGuests } from './guest-parts.mjs'
import { provideMcpPrograms } from './mcp-programs.mjs'
import { provideSdks } from './sdk-programs.mjs'
import { TEST_NEEDS } from './test-needs.mjs'
import { provideKernel } from './vm-kernel.mjs'

const isExecutable = (path) => {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

const hasCommand = (command) =>
  (process.env.PATH ?? '').split(delimiter).some((folder) => isExecutable(join(folder, command)))

/** Without package lists apt finds no package, in a cell too. */
const hasPackageLists = () =>
  existsSync('/var/lib/apt/lists') &&
  readdirSync('/var/lib/apt/lists').some((name) => /_Packages(?:\.\w+)?$/.test(name))

const missing = () => TEST_NEEDS.filter(({ command }) => !hasCommand(command))

/** Installs the needs of the tests if allowed. Returns messages about missing ones. */
export const installNeeds = () => {
  const packages = missing().flatMap((need) => need.packages)
  if ((packages.length > 0 || !hasPackageLists()) && process.getuid?.() === 0 && hasCommand('apt-get')) {
    const options = { stdio: 'inherit', env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } }
    spawnSync('apt-get', ['update', '-q'], options)
    if (packages.length > 0) process.stdout.write(`test: installing ${packages.join(' ')}\n`)
    // One at a time, because a distribution may lack a package.
    for (const name of packages) spawnSync('apt-get', ['install', '-q', '-y', '--no-install-recommends', name], options)
  }
  const kernel = provideKernel() ? [] : ['a kernel for the virtual machine is missing; node scripts/vm-kernel.mjs']
  return [
    ...missing().map(
      (need) => `${need.command} is missing (${need.because}); apt-get install ${need.packages.join(' ')}`,
    ),
    ...kernel,
    ...provideGuests(SHORT_GUESTS).map((sentence) => `${sentence}; node scripts/guest-parts.mjs`),
    ...provideAgents().map((name) => `${name} is missing (hooks are tried with it); node scripts/agent-programs.mjs`),
    ...provideMcpPrograms().map((name) => `${name} is missing (MCP is tried with it); node scripts/mcp-programs.mjs`),
    ...provideSdks().map((name) => `${name} is missing (adapters are tried with it); node scripts/sdk-programs.mjs`),
  ]
}
