import { readdirSync, readFileSync } from 'node:fs'
import { descendants } from '../measure/processes.mjs'

/** Where a sandbox might leave something; anything else that writes there meanwhile is seen too. */
const FOLDERS = ['/tmp', '/var/tmp', '/dev/shm', '/run', '/dev/mqueue']
const TABLES = ['/proc/self/mountinfo', '/proc/sysvipc/shm', '/proc/sysvipc/sem', '/proc/sysvipc/msg']

/**
 * @param {string} directory the one that the calls run in
 * @returns {Set<string>}
 */
export function readTraces(directory) {
  return new Set([
    ...[...FOLDERS, directory].flatMap((folder) => list(folder)),
    ...TABLES.flatMap((table) => readLines(table).map((line) => `${table}: ${line}`)),
    ...listGroups('/sys/fs/cgroup'),
  ])
}

/**
 * @param {ReadonlySet<string>} before
 * @param {ReadonlySet<string>} after
 */
export function newTraces(before, after) {
  return [...after].filter((trace) => !before.has(trace))
}

/**
 * Waits for the last process to go, killing being asynchronous, and ends those that stay.
 * @param {number} patience milliseconds
 * @returns {Promise<{ ms: number, left: string[] }>}
 */
export async function waitForQuiet(patience) {
  const start = performance.now()
  for (;;) {
    const left = descendants(process.pid).map(({ pid, name, state }) => `process ${pid} ${name} (${state})`)
    const ms = performance.now() - start
    if (left.length > 0 && ms > patience) endAll()
    if (left.length === 0 || ms > patience) return { ms, left }
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

function endAll() {
  for (const { pid } of descendants(process.pid)) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // Gone with the one before it.
    }
  }
}

/** @param {string} folder */
function list(folder) {
  try {
    return readdirSync(folder).map((name) => `${folder}/${name}`)
  } catch {
    return []
  }
}

/**
 * Control groups are folders; what else is in them are the kernel's files.
 * @param {string} folder
 * @returns {string[]}
 */
function listGroups(folder) {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => `${folder}/${entry.name}`)
      .flatMap((group) => [group, ...listGroups(group)])
  } catch {
    return []
  }
}

/** @param {string} file */
function readLines(file) {
  try {
    return readFileSync(file, 'utf8').trim().split('\n')
  } catch {
    return []
  }
}
