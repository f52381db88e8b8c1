import { spawn } from 'node:child_process'
import { JOB_ENVIRONMENT } from './runner.mjs'

/**
 * What a program without a sandbox library does: spawn, collect both outputs,
 * wait for 'close'. Every contestant that is a command line goes through here.
 * @param {readonly string[]} argv
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv, accept?: readonly number[] | undefined, input?: string }} options
 * @returns {Promise<void>} rejects on any other exit, with the last line of stderr
 */
export function spawnAndWait(argv, options) {
  const [program, ...rest] = argv
  return new Promise((resolve, reject) => {
    const child = spawn(/** @type {string} */ (program), rest, {
      cwd: options.cwd,
      env: options.env ?? JOB_ENVIRONMENT,
      stdio: 'pipe',
    })
    /** @type {Buffer[]} */
    const stdout = []
    /** @type {Buffer[]} */
    const stderr = []
    child.stdout.on('data', (chunk) => stdout.push(chunk))
    child.stderr.on('data', (chunk) => stderr.push(chunk))
    child.stdin.end(options.input)
    child.on('error', reject)
    child.on('close', (code, signal) => {
      if (code !== null && (options.accept ?? [0]).includes(code)) return resolve()
      const said = Buffer.concat(stderr).toString().trim().split('\n').at(-1)
      reject(new Error(`${signal ?? `exit ${code}`}${said ? `: ${said}` : ''}`))
    })
  })
}
