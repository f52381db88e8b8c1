// Makes the native `cordon`: a copy of the launcher, and a file beside it that names this build, Node, the script, and
// the folder of texts for words that ask only for help or the version.
//
//   node scripts/write-front.mjs            in a checkout: build/cordon
//   node scripts/write-front.mjs --install  for `npm install cordon`: bin/cordon
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, readFileSync, realpathSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)))
const BUNDLE = join(ROOT, 'dist', 'bundle')

const launcher = () => {
  const built = join(ROOT, 'build', 'cordon-cell')
  if (existsSync(built)) return built
  try {
    return createRequire(import.meta.url).resolve(`@cordon/launcher-linux-${process.arch}/bin/cordon-cell`)
  } catch {
    return undefined
  }
}

/** Renamed into place, so that nobody starts half a program. */
const put = (path, write) => {
  write(`${path}.new`)
  renameSync(`${path}.new`, path)
}

const from = launcher()
const answers = join(BUNDLE, 'answers')
// In a checkout, dependencies are installed before anything is built.
if (from !== undefined && existsSync(answers)) {
  const program = join(ROOT, process.argv[2] === '--install' ? 'bin' : 'build', 'cordon')
  const node = realpathSync(process.execPath)
  const hash = createHash('sha256')
  for (const file of [join(BUNDLE, 'main.cjs'), from]) hash.update(readFileSync(file))
  const build = hash.update([process.version, node, ROOT].join('\n')).digest('hex').slice(0, 16)
  put(program, (path) => copyFileSync(from, path))
  put(`${program}.front`, (path) =>
    writeFileSync(path, [build, node, join(ROOT, 'bin', 'cordon.js'), answers, ''].join('\n')),
  )
}
