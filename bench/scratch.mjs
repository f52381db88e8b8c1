import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

/**
 * A folder outside /tmp, because most contestants put an empty /tmp of their
 * own over it. Gone when the process ends, however it ends short of SIGKILL.
 * @param {string} name
 */
export function createScratch(name) {
  const folder = mkdtempSync(path.join(existsSync('/var/tmp') ? '/var/tmp' : tmpdir(), `${name}-`))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) process.on(signal, () => process.exit(1))
  return folder
}
