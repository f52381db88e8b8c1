// Bundles the modules that a package around the core exports, so that Node loads few files. What it depends on stays
// outside: the core, too.
import { readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { build } from 'esbuild'

import { ENTRIES } from './entries.mjs'

const PACKAGES = join(dirname(dirname(fileURLToPath(import.meta.url))), 'packages')
const OPTIONS = { bundle: true, platform: 'node', target: 'node20', packages: 'external', logLevel: 'warning' }

/** Programs that run alone in a cell: each is one file that needs no other, with its parts of the core. */
const PROGRAMS = { mcp: { 'bridge/main': 'bridge/main' } }

const withCore = {
  name: 'with-core',
  setup: ({ onResolve }) => {
    onResolve({ filter: /^cordon(?:\/|$)/ }, ({ path }) => ({ path: ENTRIES.get(path) }))
  },
}

for (const name of process.argv.slice(2)) {
  const folder = join(PACKAGES, name)
  const { exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const modules = Object.values(exports).flatMap((each) => (each.unbundled === undefined ? [] : [each]))
  const out = join(folder, 'dist', 'bundle')
  rmSync(out, { recursive: true, force: true })
  await build({
    ...OPTIONS,
    format: 'esm',
    splitting: true,
    entryPoints: Object.fromEntries(
      modules.map(({ unbundled, default: built }) => [
        built.replace(/^\.\/dist\/bundle\//, '').replace(/\.js$/, ''),
        join(folder, unbundled),
      ]),
    ),
    chunkNames: 'chunk-[hash]',
    outdir: out,
  })
  for (const [program, module] of Object.entries(PROGRAMS[name] ?? {}))
    await build({
      ...OPTIONS,
      format: 'cjs',
      plugins: [withCore],
      entryPoints: [join(folder, 'dist', `${module}.js`)],
      outfile: join(folder, 'dist', 'bundle', `${program}.cjs`),
    })
}
