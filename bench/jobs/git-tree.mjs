import { execFileSync } from 'node:child_process'
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { findSystemProgram } from '../contestants/look-up.mjs'

const FILES_PER_FOLDER = 50

/**
 * @param {string} folder
 * @param {number} files
 */
export function createGitTree(folder, files) {
  const git = findSystemProgram('git')
  if (git === undefined) return 'git is not installed'
  // Git reads a file again whose time is not older than the index: an old time keeps every call the same.
  const lastYear = Date.now() / 1000 - 365 * 86400
  for (let index = 0; index < files; index += 1) {
    const part = Math.floor(index / FILES_PER_FOLDER)
    const inside = path.join(folder, `area${part % 20}`, `part${part}`)
    if (index % FILES_PER_FOLDER === 0) mkdirSync(inside, { recursive: true })
    const file = path.join(inside, `file${index}.txt`)
    writeFileSync(file, `file ${index}\n`)
    utimesSync(file, lastYear, lastYear)
  }
  const identity = ['-c', 'user.name=bench', '-c', 'user.email=bench@localhost', '-c', 'gc.auto=0']
  for (const words of [
    ['init', '-q'],
    ['add', '.'],
    [...identity, 'commit', '-q', '-m', 'tree'],
  ]) {
    execFileSync(git, words, { cwd: folder, stdio: 'ignore', env: { PATH: '/usr/bin:/bin' } })
  }
  return {
    title: `git status, ${files.toLocaleString('en')} files`,
    job: { argv: /** @type {const} */ ([git, '--no-optional-locks', 'status', '--porcelain']), cwd: folder },
  }
}
