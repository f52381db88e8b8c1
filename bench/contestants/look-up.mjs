import { accessSync, constants, existsSync } from 'node:fs'
import path from 'node:path'

/**
 * @param {string} program
 * @param {string | undefined} [peers] a folder whose node_modules/.bin and bin are searched first
 * @returns {string | undefined} absolute path
 */
export function findProgram(program, peers) {
  const folders = (process.env['PATH'] ?? '').split(':')
  if (peers !== undefined) folders.unshift(path.resolve(peers, 'node_modules/.bin'), path.resolve(peers, 'bin'))
  return folders.map((folder) => path.join(folder, program)).find(isExecutable)
}

/**
 * The system's own program where there is one: a version manager's shim in
 * front of it would be measured instead.
 * @param {string} program
 */
export function findSystemProgram(program) {
  const own = path.join('/usr/bin', program)
  return isExecutable(own) ? own : findProgram(program)
}

/**
 * @param {string} name of a package
 * @param {string | undefined} peers
 * @returns {string | undefined} its folder, never one of this package's own dependencies
 */
export function findPackage(name, peers) {
  const prefix = path.dirname(path.dirname(process.execPath))
  const folders = [path.join(prefix, 'lib/node_modules', name)]
  if (peers !== undefined) folders.unshift(path.resolve(peers, 'node_modules', name))
  return folders.find((folder) => existsSync(folder))
}

/** @param {string} file */
function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
