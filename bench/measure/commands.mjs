// How long a command takes beside a Node that does nothing: the command line with and without the local host, the hook
// of a coding agent and what it makes of a command, and `import 'cordon'`.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { findProgram } from '../contestants/look-up.mjs'
import { JOB_ENVIRONMENT } from '../contestants/runner.mjs'
import { spawnAndWait } from '../contestants/spawn.mjs'
import { createShuffle, median, medianRatio } from './statistics.mjs'

const PACKAGE = fileURLToPath(new URL('../../packages/core/', import.meta.url))
const CORDON = path.join(PACKAGE, 'bin/cordon.js')
const FRONT = path.join(PACKAGE, 'build/cordon')
const NODE = process.execPath
const RUN = /** @type {const} */ (['run', '--', '/bin/true'])

/** Six binds, and namespaces like those of a cell. */
const BUBBLEWRAP = ['/usr', '/bin', '/lib', '/lib64', '/etc/alternatives', '/etc/ssl']
  .filter((each) => existsSync(each))
  .flatMap((each) => ['--ro-bind', each, each])

/**
 * @typedef {object} Command
 * @property {string} title
 * @property {number} p50 milliseconds
 * @property {number} ratio to `node -e 0`
 */

/**
 * @typedef {object} Commands
 * @property {Command[]} commands
 * @property {number | undefined} hostBytes of an idle local host and its door: their share of memory (Pss)
 */

/**
 * @typedef {object} Lane
 * @property {string} title
 * @property {readonly string[]} argv
 * @property {string} cwd
 * @property {NodeJS.ProcessEnv} env
 * @property {string} [input]
 */

/**
 * @param {string} cwd
 * @returns {Lane[]}
 */
function lanesIn(cwd) {
  const home = path.join(cwd, 'home')
  const ruled = path.join(cwd, 'home-with-rules')
  const project = path.join(cwd, 'project')
  for (const folder of [home, project, path.join(ruled, '.config/cordon')]) mkdirSync(folder, { recursive: true })
  const rules = Array.from(
    { length: 100 },
    (_, at) => `  - { effect: deny, command: "program${at} *", because: "number ${at}" }\n`,
  )
  writeFileSync(path.join(ruled, '.config/cordon/rules.yaml'), `rules:\n${rules.join('')}`)
  const env = { ...JOB_ENVIRONMENT, HOME: home }
  const alone = { cwd: project, env: { ...env, CORDON_HOST: 'off' } }
  const served = { cwd: project, env }
  const bwrap = findProgram('bwrap')
  return [
    { title: 'node -e 0', argv: [NODE, '-e', '0'], ...alone },
    { title: 'cordon --version', argv: [FRONT, '--version'], ...served },
    { title: 'cordon --help', argv: [FRONT, '--help'], ...served },
    { title: 'cordon run -- true', argv: [FRONT, ...RUN], ...served },
    { title: 'cordon run -- true, 100 rules', argv: [FRONT, ...RUN], cwd: project, env: { ...env, HOME: ruled } },
    { title: 'cordon run -- true, without a host', argv: [NODE, CORDON, ...RUN], ...alone },
    ...(bwrap === undefined
      ? []
      : [
          {
            title: 'bubblewrap, six binds',
            argv: [bwrap, '--unshare-all', ...BUBBLEWRAP, '--proc', '/proc', '--dev', '/dev', '/bin/true'],
            ...served,
          },
        ]),
    ...hookLanes(project, env),
    // The package is found from its own folder.
    {
      title: "import 'cordon'",
      argv: [NODE, '--input-type=module', '-e', "import 'cordon'"],
      ...alone,
      cwd: path.join(PACKAGE, '../..'),
    },
  ]
}

/**
 * A command of Claude Code: alone, its hook, and what the hook makes of it.
 * @param {string} project
 * @param {NodeJS.ProcessEnv} variables
 * @returns {Lane[]}
 */
function hookLanes(project, variables) {
  const env = { ...variables, CLAUDE_PROJECT_DIR: project }
  const input = JSON.stringify({
    session_id: 'bench',
    cwd: project,
    hook_event_name: 'PreToolUse',
    permission_mode: 'default',
    tool_name: 'Bash',
    tool_input: { command: 'true' },
  })
  const hook = [FRONT, 'hook', 'claude-code', '--from-package']
  const { stdout } = spawnSync(FRONT, hook.slice(1), { cwd: project, env, input, encoding: 'utf8' })
  const hooked = JSON.parse(stdout).hookSpecificOutput.updatedInput.command
  return [
    { title: 'bash -c true', argv: ['/bin/bash', '-c', 'true'], cwd: project, env },
    { title: 'cordon hook', argv: hook, cwd: project, env, input },
    { title: 'hooked true', argv: ['/bin/bash', '-c', hooked], cwd: project, env },
  ]
}

/** Waits until a host serves, so that no round pays for its start. */
async function startHost(/** @type {Lane | undefined} */ lane) {
  if (lane === undefined) return undefined
  const asked = () => JSON.parse(spawnSync(FRONT, ['host', 'status', '--json'], { encoding: 'utf8' }).stdout)
  for (let tries = 0; tries < 50; tries += 1) {
    await spawnAndWait(lane.argv, lane)
    const state = asked()
    if (state?.served > 0) return state.pid
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error('no local host was started; is there one of another kind: cordon host status')
}

/** @param {number} pid */
function shareOfMemory(pid) {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean)
  return [pid, ...children]
    .map((each) => Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${each}/smaps_rollup`, 'utf8'))?.[1]) * 1024)
    .reduce((total, bytes) => total + bytes, 0)
}

/**
 * @param {{ cwd: string, blocks: number, rounds: number, progress: (done: number, of: number) => void }} plan
 * @returns {Promise<Commands>}
 */
export async function measureCommands({ cwd, blocks, rounds, progress }) {
  const shuffle = createShuffle(3)
  const lanes = lanesIn(cwd).map((lane) => ({
    ...lane,
    blocks: Array.from({ length: blocks }, () => /** @type {number[]} */ ([])),
  }))
  const host = await startHost(lanes.find(({ title }) => title === 'cordon run -- true'))
  for (let round = 0; round < blocks * rounds; round += 1) {
    progress(round, blocks * rounds)
    for (const { argv, blocks: own, ...options } of shuffle(lanes)) {
      const began = performance.now()
      await spawnAndWait(argv, options)
      own[Math.floor(round / rounds)]?.push(performance.now() - began)
    }
  }
  const medians = lanes.map(({ blocks: own }) => own.map(median))
  return {
    commands: lanes.map(({ title }, at) => ({
      title,
      p50: median(medians[at] ?? []),
      ratio: medianRatio(medians[at] ?? [], medians[0] ?? []),
    })),
    hostBytes: host === undefined ? undefined : shareOfMemory(host),
  }
}
