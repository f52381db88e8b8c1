import { spawnSync } from 'node:child_process'

import { provideAgents } from './agent-programs.mjs'
import { provideBaseImages } from './base-images.mjs'
import { GUESTS, provideGuests } from './guest-parts.mjs'
import { provideMcpPrograms } from './mcp-programs.mjs'
import { NEEDS, NEEDS_OF_THE_MATRIX } from './needs.mjs'
import { provideSdks } from './sdk-programs.mjs'
import { provideKernel } from './vm-kernel.mjs'

const mayInstall = () => process.getuid?.() === 0 && spawnSync('apt-get', ['--version']).status === 0

/** Installs what does not work, if allowed. Returns a sentence for each need that still does not. */
const installPackages = (needs) => {
  const broken = needs.filter(({ works }) => !works())
  if (broken.length === 0 || !mayInstall()) return broken.map(inWords)
  const packages = [...new Set(broken.flatMap((need) => need.packages))]
  const options = { stdio: 'inherit', env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } }
  spawnSync('apt-get', ['update', '-q'], options)
  if (packages.length > 0) process.stdout.write(`test: installing ${packages.join(' ')}\n`)
  // One at a time, because a distribution may lack a package.
  for (const name of packages) spawnSync('apt-get', ['install', '-q', '-y', '--no-install-recommends', name], options)
  return broken.filter(({ works }) => !works()).map(inWords)
}

const inWords = ({ name, because, packages }) =>
  `${name} does not work here (${because}); apt-get ${packages.length === 0 ? 'update' : `install ${packages.join(' ')}`}`

export const installNeeds = () => installPackages(NEEDS)

/** The needs of `npm test`, and programs of others: kernels, coding agents, MCP servers, SDKs. */
export const installNeedsOfTheMatrix = () => [
  ...installPackages([...NEEDS, ...NEEDS_OF_THE_MATRIX]),
  ...(provideKernel() ? [] : ['a kernel for the virtual machine is missing; node scripts/tests/vm-kernel.mjs']),
  ...provideGuests(GUESTS).map((sentence) => `${sentence}; node scripts/tests/guest-parts.mjs --all`),
  ...provideBaseImages().map((sentence) => `${sentence}; node scripts/tests/base-images.mjs`),
  ...provideAgents().map((name) => `${name} is missing (hooks); node scripts/tests/agent-programs.mjs`),
  ...provideMcpPrograms().map((name) => `${name} is missing (MCP); node scripts/tests/mcp-programs.mjs`),
  ...provideSdks().map((name) => `${name} is missing (adapters); node scripts/tests/sdk-programs.mjs`),
]
