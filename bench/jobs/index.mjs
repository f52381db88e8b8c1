import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { findSystemProgram } from '../contestants/look-up.mjs'
import { createCProject } from './c-project.mjs'
import { createGitTree } from './git-tree.mjs'

/**
 * @typedef {object} Work
 * @property {string} name
 * @property {string} title
 * @property {import('../contestants/runner.mjs').Job} job
 * @property {() => Promise<void>} [before] undoes what the last call left; not measured
 */

/**
 * Makes the trees that the jobs work on; a name that is not asked for costs nothing.
 * @param {{ names: ReadonlySet<string>, scratch: string, quick: boolean }} where
 * @returns {{ works: Work[], absent: { name: string, reason: string }[] }}
 */
export function prepareWork({ names, scratch, quick }) {
  /** @type {Work[]} */
  const works = []
  /** @type {{ name: string, reason: string }[]} */
  const absent = []
  for (const [name, prepare] of Object.entries(PREPARATIONS)) {
    if (!names.has(name)) continue
    const folder = path.join(scratch, name)
    mkdirSync(folder)
    const work = prepare(folder, quick)
    if (typeof work === 'string') absent.push({ name, reason: work })
    else works.push({ name, ...work })
  }
  return { works, absent }
}

/** @type {Record<string, (folder: string, quick: boolean) => Omit<Work, 'name'> | string>} */
const PREPARATIONS = {
  // In a user namespace root may not enter other users' private folders: find goes on and exits 1.
  find: (folder) => start('find', ['/usr/share'], 'find /usr/share', folder, [0, 1]),
  gcc: (folder) => createCProject(folder),
  git: (folder, quick) => createGitTree(folder, quick ? 5_000 : 20_000),
  python: (folder) => start('python3', ['-c', 'pass'], 'python3 start', folder),
  node: (folder) => ({ title: 'node start', job: { argv: [process.execPath, '-e', '0'], cwd: folder } }),
}

/**
 * @param {string} program
 * @param {string[]} words
 * @param {string} title
 * @param {string} cwd
 * @param {number[]} accept
 */
function start(program, words, title, cwd, accept = [0]) {
  const file = findSystemProgram(program)
  if (file === undefined) return `${program} is not installed`
  /** @type {readonly [string, ...string[]]} */
  const argv = [file, ...words]
  return { title, job: { argv, cwd, accept } }
}
