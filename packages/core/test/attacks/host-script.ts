// A host program in its own process, so that tests can kill it, or start it with open descriptors.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

import type { BackendName, Form } from '../../src/sandbox/index.js'

const DIST = new URL('../../dist/', import.meta.url)

/** What the script reads from the file named in its first argument. */
export interface HostRequest {
  readonly form: Form
  readonly backend: BackendName
  readonly argv: readonly string[]
  readonly read?: readonly string[]
  readonly write?: readonly string[]
  readonly cwd?: string
  /** How many calls, how many of them at once. */
  readonly calls?: number
  readonly atOnce?: number
  readonly limits?: Readonly<Record<string, string | number>>
}

/** Writes the script into a folder and returns its path. It prints what the last call printed, and then a summary. */
export const hostScript = (folder: string): string => {
  const path = join(folder, 'host.mjs')
  writeFileSync(path, SCRIPT)
  return path
}

const SCRIPT = `
import { readFileSync } from 'node:fs'
import { openSandbox } from ${JSON.stringify(pathToFileURL(new URL('sandbox/index.js', DIST).pathname).href)}
import { parsePolicy, resolvePolicy } from ${JSON.stringify(pathToFileURL(new URL('policy/index.js', DIST).pathname).href)}

const request = JSON.parse(readFileSync(process.argv[2], 'utf8'))
const { form, backend, argv, read = [], write = [], cwd = '/usr', calls = 1, atOnce = 1, limits = {} } = request
const boundary = resolvePolicy(parsePolicy({ filesystem: { read, write }, limits }, 'host'), { workspace: cwd, home: cwd, kind: 'process' })
const sandbox = await openSandbox({ form, backend })
process.stdout.write('open\\n')
const failures = []
let last = ''
let left = calls
const worker = async () => {
  while (left > 0) {
    left -= 1
    try {
      const { status, exitCode, stdout, stderr } = await sandbox.run({ boundary, cwd, argv, form })
      last = Buffer.from(stdout).toString('latin1')
      if (status !== 'exited' || exitCode !== 0) failures.push(status + ' ' + exitCode + ' ' + Buffer.from(stderr).toString('latin1').slice(0, 200))
    } catch (error) {
      failures.push(String(error.code) + ' ' + error.message)
    }
  }
}
await Promise.all(Array.from({ length: atOnce }, worker))
await sandbox.close()
process.stdout.write(last)
process.stdout.write(JSON.stringify({ done: calls, failures: failures.slice(0, 5), failed: failures.length }) + '\\n')
`
