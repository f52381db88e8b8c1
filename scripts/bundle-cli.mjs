// Joins the modules of the command line into a few files. A program that is started for every tool call
// should not open two hundred files first. What a command needs only sometimes stays a file of its own.
import { rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { build } from 'esbuild'

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)))
// Commands that speak to a store are joined apart from the others: what they share would otherwise be split off into
// files of its own, and `cordon run` would open those too.
const STORE_COMMANDS = [
  ...['serve', 'approvals', 'tools', 'calls', 'runs', 'team', 'tokens', 'credentials', 'runner'].map(
    (name) => `team/${name}`,
  ),
  'log/why-stored',
  'log/log-stored',
]
const STORE_OUT = join(ROOT, 'dist', 'bundle', 'store-commands')
// As deep as the modules themselves lie: they look for package.json, launcher, runner and policies from where they are.
const OUT = join(ROOT, 'dist', 'bundle', 'command-line')

const storeCommandsApart = {
  name: 'store-commands-apart',
  setup: ({ onResolve }) => {
    const apart = new RegExp(`/cli/(${STORE_COMMANDS.join('|')})\.js$`)
    onResolve({ filter: /^\.\.?\// }, ({ path, kind, resolveDir }) => {
      const command = kind === 'dynamic-import' ? apart.exec(join(resolveDir, path))?.[1] : undefined
      return command === undefined ? undefined : { path: `../store-commands/${basename(command)}.js`, external: true }
    })
  },
}

const OPTIONS = {
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  packages: 'external',
  logLevel: 'warning',
}
const modulesOf = (names) => names.map((name) => join(ROOT, 'dist', 'cli', `${name}.js`))

for (const folder of [OUT, STORE_OUT]) rmSync(folder, { recursive: true, force: true })
await build({ ...OPTIONS, entryPoints: modulesOf(['main']), outdir: OUT, plugins: [storeCommandsApart] })
await build({ ...OPTIONS, entryPoints: modulesOf(STORE_COMMANDS), entryNames: '[name]', outdir: STORE_OUT })
