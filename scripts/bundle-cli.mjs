// Joins the modules of the command line into a few files. A program that is started for every tool call
// should not open two hundred files first. What a command needs only sometimes stays a file of its own.
import { rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { build } from 'esbuild'

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)))
// As deep as the modules themselves lie: they look for package.json, launcher and runner from where they are.
const OUT = join(ROOT, 'dist', 'command-line')

rmSync(OUT, { recursive: true, force: true })
await build({
  entryPoints: [join(ROOT, 'dist', 'cli', 'main.js')],
  outdir: OUT,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  packages: 'external',
  logLevel: 'warning',
})
