// Formats native/ with clang-format.
//
//   npm run format                           changes the files
//   node scripts/format-c.mjs --check        names those that would change; `npm test` does this
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)))

// The version of Debian 12, because others format some lines differently.
const VERSION = 14

const stop = (text) => {
  process.stderr.write(`format-c: ${text}\n`)
  process.exit(1)
}

const found = ['clang-format', `clang-format-${VERSION}`].find((name) =>
  spawnSync(name, ['--version'], { encoding: 'utf8' }).stdout?.includes(`version ${VERSION}.`),
)
if (found === undefined)
  stop(`clang-format ${VERSION} is missing; apt-get install clang-format (or clang-format-${VERSION})`)

const files = readdirSync(join(ROOT, 'native'), { recursive: true })
  .filter((name) => /\.[ch]$/.test(name))
  .sort()
  .map((name) => join('native', name))
const check = process.argv.includes('--check')
const { status } = spawnSync(found, [...(check ? ['--dry-run', '-Werror'] : ['-i']), ...files], {
  cwd: ROOT,
  stdio: 'inherit',
})
if (status !== 0) stop(check ? 'these files are laid out otherwise; npm run format' : 'clang-format failed (see above)')
