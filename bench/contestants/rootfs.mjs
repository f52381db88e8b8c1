import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync } from 'node:fs'
import path from 'node:path'

/**
 * The smallest root that container runtimes accept: one program and its libraries.
 * @param {string} folder
 * @param {string} program
 */
export function buildRootfs(folder, program) {
  if (existsSync(folder)) return folder
  const libraries = execFileSync('ldd', [program], { encoding: 'utf8' }).match(/\/\S+/g) ?? []
  for (const name of ['proc', 'dev', 'sys', 'tmp', 'etc', 'run'])
    mkdirSync(path.join(folder, name), { recursive: true })
  for (const file of [program, ...libraries]) {
    mkdirSync(path.join(folder, path.dirname(file)), { recursive: true })
    copyFileSync(file, path.join(folder, file))
  }
  return folder
}
