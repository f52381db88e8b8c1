// The process that holds the sandbox-runtime library: argv is the library's path and the job.
import { spawn } from 'node:child_process'
import { createRunner, JOB_ENVIRONMENT, messageOf } from './runner.mjs'

const [library, jobText] = process.argv.slice(2)
const job = JSON.parse(String(jobText))
const { SandboxManager } = await import(String(library))

const runner = createRunner(async () => {
  // The library's interface is a shell string, so a shell is part of its price.
  const command = await SandboxManager.wrapWithSandbox(job.argv.map(quote).join(' '))
  try {
    await runShell(command)
  } finally {
    SandboxManager.cleanupAfterCommand?.()
  }
})

process.on('message', (message) => {
  const { id, verb, values } = /** @type {{ id: number, verb: string, values: number[] }} */ (message)
  answer(verb, values).then(
    (value) => process.send?.({ id, value }),
    (error) => process.send?.({ id, error: messageOf(error) }),
  )
})

/**
 * @param {string} verb
 * @param {number[]} values
 * @returns {Promise<unknown>}
 */
async function answer(verb, values) {
  switch (verb) {
    case 'open':
      return SandboxManager.initialize({
        network: { allowedDomains: [], deniedDomains: [] },
        filesystem: { denyRead: [], allowWrite: [job.cwd], denyWrite: [] },
      })
    case 'sample':
      return runner.sample()
    case 'slice':
      return runner.slice(Number(values[0]), Number(values[1]))
    case 'close':
      return SandboxManager.reset()
    default:
      throw new Error(`unknown verb ${verb}`)
  }
}

/** @param {string} command */
function runShell(command) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, { shell: true, cwd: job.cwd, env: JOB_ENVIRONMENT, stdio: 'pipe' })
    let said = ''
    child.stdout.resume()
    child.stderr.on('data', (chunk) => {
      said += chunk
    })
    child.stdin.end()
    child.on('error', reject)
    child.on('close', (code, signal) => {
      if ((job.accept ?? [0]).includes(code)) resolve(undefined)
      else reject(new Error(`${signal ?? `exit ${code}`}: ${said.trim().split('\n').at(-1)}`))
    })
  })
}

/** @param {string} word */
function quote(word) {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`
}
