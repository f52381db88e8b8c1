// Makes the native `cordon`: a copy of the launcher, and a file beside it that names this build, Node, the script, and
// the folder of texts for words that ask only for help or the version.
//
//   node scripts/write-front.mjs            in a checkout: build/cordon
//   node scripts/write-front.mjs --install  for `npm install cordon`: bin/cordon, in place of the script there
//   node scripts/write-front.mjs --copy     in a copy that `cordon hook install` made: bin/cordon
import { createHash } from 'node:crypto'
import { chmodSync, copyFileSync, existsSync, linkSync, readFileSync } from 'node:fs'
import { realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const option = process.argv[2]
const ROOT = dirname(dirname(fileURLToPath(import.meta.url)))
const BUNDLE = join(ROOT, 'dist', 'bundle')
const ANSWERS = join(BUNDLE, 'answers')

const launcher = () => {
  const built = join(ROOT, 'build', 'cordon-cell')
  if (existsSync(built)) return built
  try {
    return createRequire(import.meta.url).resolve(`@cordon/launcher-linux-${process.arch}/bin/cordon-cell`)
  } catch {
    return undefined
  }
}

const foldersAbove = (folder) => (folder === dirname(folder) ? [folder] : [folder, ...foldersAbove(dirname(folder))])

/**
 * npm links to the file. pnpm writes scripts that say `exec node FILE`, and leaves some of them when the file changes:
 * those of other projects in a workspace or store. Yarn runs each command as `node FILE`.
 */
const isStartedByLink = ({ npm_config_user_agent: agent = '', npm_config_global: isGlobal, ...env }) => {
  const project = isGlobal === 'true' ? undefined : env.npm_config_local_prefix
  const modules = [ROOT, ...(project === undefined ? [] : [project])]
    .flatMap(foldersAbove)
    .map((folder) => join(folder, 'node_modules'))
  return agent.startsWith('npm/') && !modules.some((folder) => existsSync(join(folder, '.modules.yaml')))
}

/** Renamed into place, so that nobody starts half a program. */
const put = (path, write) => {
  write(`${path}.new`)
  renameSync(`${path}.new`, path)
}

const writeFront = (from, program) => {
  const node = realpathSync(process.execPath)
  const hash = createHash('sha256')
  for (const file of [join(BUNDLE, 'main.cjs'), from]) hash.update(readFileSync(file))
  const build = hash.update([process.version, node, ROOT].join('\n')).digest('hex').slice(0, 16)
  // First, because the program needs it.
  put(`${program}.front`, (path) =>
    writeFileSync(path, [build, node, join(ROOT, 'bin', 'cordon.js'), ANSWERS, ''].join('\n')),
  )
  put(program, (path) => {
    rmSync(path, { force: true })
    copyOrLink(from, path)
    chmodSync(path, 0o755)
  })
}

/** A second name takes no room. In a checkout, a launcher may be written over where it lies. */
const copyOrLink = (from, to) => {
  try {
    if (option !== undefined) return linkSync(from, to)
  } catch {
    // On another file system, or of another user.
  }
  copyFileSync(from, to)
}

const from = launcher()
// In a checkout, dependencies are installed before anything is built, and bin/cordon is in git.
const isWanted = option !== '--install' || (!existsSync(join(ROOT, 'src')) && isStartedByLink(process.env))
if (process.platform === 'linux' && from !== undefined && existsSync(ANSWERS) && isWanted)
  try {
    writeFront(from, join(ROOT, option === undefined ? 'build' : 'bin', 'cordon'))
  } catch (error) {
    // The script in its place does the same.
    if (option === undefined) throw error
    process.stderr.write(`write-front: cordon stays a script, and starts more slowly (${error.message})\n`)
  }
