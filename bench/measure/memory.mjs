import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { descendants } from './processes.mjs'

/**
 * What an idle warm cell costs that would not be there without it.
 * @typedef {object} Memory
 * @property {number} privateBytes Private_Clean + Private_Dirty over its processes
 * @property {number} proportionalBytes Pss: its private pages and its share of the shared ones
 * @property {string[]} processes their names
 */

/**
 * @param {import('../contestants/runner.mjs').Contestant} contestant whose runner holds cells ready
 * @param {import('../contestants/runner.mjs').Job} job
 * @returns {Promise<Memory>}
 */
export async function measureIdleMemory(contestant, job) {
  const before = new Set(descendants(process.pid).map(({ pid }) => pid))
  const runner = await contestant.open(job)
  try {
    await runner.ready()
    await sleep(200)
    const cell = descendants(process.pid).filter(({ pid }) => !before.has(pid))
    return {
      privateBytes: sum(cell.map(({ pid }) => readRollup(pid, ['Private_Clean', 'Private_Dirty']))),
      proportionalBytes: sum(cell.map(({ pid }) => readRollup(pid, ['Pss']))),
      processes: cell.map(({ name }) => name),
    }
  } finally {
    await runner.close()
  }
}

/**
 * @param {number} pid
 * @param {string[]} fields
 */
function readRollup(pid, fields) {
  const lines = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8').split('\n')
  return sum(
    fields.map((field) => {
      const line = lines.find((text) => text.startsWith(`${field}:`))
      return Number(line?.match(/\d+/)?.[0] ?? 0) * 1024
    }),
  )
}

/** @param {number[]} values */
function sum(values) {
  return values.reduce((total, value) => total + value, 0)
}
