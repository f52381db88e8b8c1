// Remembers on this machine that a check passed with the same inputs, for checks whose inputs seldom change.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)))
const STAMPS = join(ROOT, 'build', 'passed')

const filesOf = (path) => {
  if (!statSync(path).isDirectory()) return [path]
  return readdirSync(path)
    .sort()
    .flatMap((name) => filesOf(join(path, name)))
}

const versionOf = (program, word = '--version') => String(spawnSync(program, [word]).stdout)

/** A hash of files and folders, and of the versions of programs and of this system. */
const hashOf = ({ paths, programs }) => {
  const hash = createHash('sha256').update(process.version).update(versionOf('uname', '-srm'))
  for (const program of programs) hash.update(versionOf(program))
  for (const file of paths.flatMap((path) => filesOf(join(ROOT, path)))) {
    hash.update(`\0${file.slice(ROOT.length)}\0`).update(readFileSync(file))
  }
  return hash.digest('hex')
}

/** Whether a check passed before with these inputs, and a function that records a pass. */
export const passedBefore = (name, inputs) => {
  const stamp = join(STAMPS, name)
  const wanted = hashOf(inputs)
  return {
    isKnown: existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted,
    note: () => {
      mkdirSync(STAMPS, { recursive: true })
      writeFileSync(stamp, wanted)
    },
  }
}
