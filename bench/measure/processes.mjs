import { readdirSync, readFileSync } from 'node:fs'

/**
 * @typedef {object} ProcessFact
 * @property {number} pid
 * @property {number} parent
 * @property {string} name
 * @property {string} state one letter; Z has ended and only waits to be counted
 */

/** @returns {ProcessFact[]} */
export function listProcesses() {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap(readProcess)
}

/**
 * @param {number} root
 * @returns {ProcessFact[]} living ones, children before their own children
 */
export function descendants(root) {
  const all = listProcesses()
  const found = all.filter(({ parent }) => parent === root)
  for (const { pid } of found) found.push(...all.filter(({ parent }) => parent === pid))
  return found.filter(({ state }) => state !== 'Z')
}

/** @param {string} pid */
function readProcess(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name may itself hold spaces and parentheses.
    const [state = '?', parent] = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return [
      {
        pid: Number(pid),
        parent: Number(parent),
        name: text.slice(text.indexOf('(') + 1, text.lastIndexOf(')')),
        state,
      },
    ]
  } catch {
    return []
  }
}
