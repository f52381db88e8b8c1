// How long each file of tests took: kept for every run, and the slowest ones in its output.
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const FOLDER = join(dirname(dirname(dirname(fileURLToPath(import.meta.url)))), 'build', 'durations')
const SHOWN = 20

/** `files` has the path of each file, how it ran, and its seconds. */
export const keepDurations = (files) => {
  mkdirSync(FOLDER, { recursive: true })
  const name = `${new Date().toISOString().replaceAll(':', '-')}.json`
  writeFileSync(join(FOLDER, name), `${JSON.stringify(files, undefined, 1)}\n`)
}

const inMinutes = (seconds) => `${(seconds / 60).toFixed(1)} minutes`

export const slowestFiles = (files) => {
  const total = files.reduce((sum, { seconds }) => sum + seconds, 0)
  const slowest = [...files].sort((a, b) => b.seconds - a.seconds).slice(0, SHOWN)
  const lines = slowest.map(({ file, as, seconds }) => `${seconds.toFixed(1).padStart(7)} s  ${file} (as ${as})`)
  return [...lines, `${inMinutes(total)} of file time in ${files.length} files`, ''].join('\n')
}

/** The seconds of each file in the last run on this machine, for an order that begins with the longest. */
export const lastDurations = () => {
  try {
    const last = readdirSync(FOLDER).sort().at(-1)
    const files = JSON.parse(readFileSync(join(FOLDER, last), 'utf8'))
    return new Map(files.map(({ file, seconds }) => [file, seconds]))
  } catch {
    return new Map()
  }
}
