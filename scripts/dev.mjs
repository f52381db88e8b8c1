// `npm run dev`: rebuilds after changes. TypeScript by its own watch, then the bundles. The launcher after
// changes in native/.
import { spawn, spawnSync } from 'node:child_process'
import { watch } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)))
/** The last line of a round of tsc. */
const ROUND_ENDED = /Found (\d+) errors?\. Watching/
/** Editors save a file in several steps. */
const SETTLED_MS = 200

const build = (...words) => spawnSync(process.execPath, words, { cwd: ROOT, stdio: 'inherit' })

const compiler = spawn(
  process.execPath,
  [join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc'), '-b', '--watch', '--preserveWatchOutput'],
  {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
  },
)
compiler.stdout.on('data', (bytes) => {
  const said = String(bytes)
  process.stdout.write(said)
  if (ROUND_ENDED.exec(said)?.[1] !== '0') return
  build('packages/core/scripts/bundle.mjs')
  build('scripts/bundle-package.mjs', 'mcp', 'team', 'manifest', 'eslint', 'adapters')
})
compiler.on('exit', (code) => process.exit(code ?? 1))

let settled
watch(join(ROOT, 'packages/core/native'), { recursive: true }, () => {
  clearTimeout(settled)
  settled = setTimeout(() => build('packages/core/scripts/build-native.mjs'), SETTLED_MS)
})

process.on('SIGINT', () => compiler.kill())
