// Everything the bench knows about Cordon's own library is in this file.
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRunner, JOB_ENVIRONMENT } from './runner.mjs'

/** The full boundary of a tool that builds in its workspace: all sections said, all limits set. */
const POLICY = {
  filesystem: { read: 'none' },
  network: 'none',
  environment: Object.entries(JOB_ENVIRONMENT).map(([name, value]) => `${name}=${value}`),
  exec: 'all',
  limits: { memory: '2G', processes: 256, cpu: '10m', wall: '10m', output: '64M' },
}

/** @returns {Promise<{ openSandbox: Function, parsePolicy: Function, resolvePolicy: Function }>} */
async function loadLibrary() {
  const from = (/** @type {string} */ room) => import(room === 'runtime' ? 'cordon' : `cordon/${room}`)
  const [sandbox, policy] = await Promise.all([from('sandbox'), from('policy')]).catch((error) => {
    throw error.code === 'ERR_MODULE_NOT_FOUND'
      ? new Error('not built: run npm run build first', { cause: error })
      : error
  })
  return { ...policy, ...sandbox }
}

/**
 * @param {Awaited<ReturnType<typeof loadLibrary>>} library
 * @param {import('./runner.mjs').Job} job
 */
function boundaryFor(library, job) {
  const policy = library.parsePolicy({ ...POLICY, filesystem: { write: [job.cwd], read: readable(job) } }, 'bench')
  return library.resolvePolicy(policy, { workspace: job.cwd, home: job.cwd, kind: 'process' })
}

/**
 * What every cell may read, for contestants that are to have the same boundary.
 * @returns {Promise<string[]>} empty when Cordon is not built
 */
export async function systemPaths() {
  const library = await loadLibrary().catch(() => undefined)
  if (library === undefined) return []
  const { presetRead } = boundaryFor(library, { argv: ['/bin/true'], cwd: '/' })
  return presetRead
    .filter((/** @type {any} */ { kind }) => kind === 'literal')
    .map((/** @type {any} */ { path: text }) => text)
}

/** @param {import('./runner.mjs').Job} job */
function readable(job) {
  const prefix = path.dirname(path.dirname(job.argv[0]))
  return prefix === '/' || prefix === '/usr' ? 'none' : [prefix]
}

/**
 * @param {any} result
 * @param {import('./runner.mjs').Job} job
 */
function expectSuccess(result, job) {
  if (result.status === 'exited' && (job.accept ?? [0]).includes(result.exitCode)) return
  const said = Buffer.from(result.stderr ?? '')
    .toString()
    .trim()
    .split('\n')
    .at(-1)
  throw new Error(`${result.status} ${result.signal ?? result.exitCode}${said ? `: ${said}` : ''}`)
}

export const findCordonCold = () => openCold('cordon-cold', 'cordon, cold cell', {})

/** The form for hosts that refuse user namespaces. */
export const findCordonLandlock = () => openCold('cordon-landlock', 'cordon, cold cell, fallback', { form: 'landlock' })

export const findCordonWarm = () => openWarm('cordon-warm', 'cordon, warm cell', {})

/** @typedef {{ form?: 'auto' | 'landlock', backend?: 'native' | 'bubblewrap' | 'firejail' }} SandboxChoice */

/**
 * @param {string} name
 * @param {string} title
 * @param {SandboxChoice} choice
 * @returns {Promise<import('./runner.mjs').Contestant>}
 */
export async function openCold(name, title, choice) {
  const library = await loadLibrary()
  const sandbox = await library.openSandbox(choice)
  return {
    name,
    title,
    role: 'cordon',
    works: true,
    open: async (job) => {
      const boundary = boundaryFor(library, job)
      return createRunner(async () =>
        expectSuccess(await sandbox.run({ boundary, cwd: job.cwd, argv: [...job.argv] }), job),
      )
    },
    close: async () => sandbox.close(),
  }
}

/**
 * @param {string} name
 * @param {string} title
 * @param {SandboxChoice} choice
 * @returns {Promise<import('./runner.mjs').Contestant>}
 */
export async function openWarm(name, title, choice) {
  const library = await loadLibrary()
  const sandbox = await library.openSandbox(choice)
  return {
    name,
    title,
    role: 'cordon',
    works: true,
    open: async (job) => {
      const pool = sandbox.warm({ boundary: boundaryFor(library, job), cwd: job.cwd, program: job.argv[0] })
      return createRunner(async () => expectSuccess(await pool.run({ argv: [...job.argv] }), job), {
        ready: async () => {
          await (pool.ready?.() ?? sleep(10))
        },
        close: async () => pool.close(),
      })
    },
    close: async () => sandbox.close(),
  }
}
