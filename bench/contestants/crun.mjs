import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { findProgram } from './look-up.mjs'
import { buildRootfs } from './rootfs.mjs'
import { createRunner } from './runner.mjs'
import { spawnAndWait } from './spawn.mjs'

/**
 * @param {{ scratch: string }} where
 * @returns {Promise<import('./runner.mjs').Contestant>}
 */
export async function findCrun({ scratch }) {
  const crun = findProgram('crun')
  if (crun === undefined) throw new Error('crun is not in PATH')
  const rootfs = buildRootfs(path.join(scratch, 'rootfs'), '/bin/true')
  const bundle = path.join(scratch, 'bundle')
  const state = path.join(scratch, 'crun-state')
  mkdirSync(bundle)
  let calls = 0
  return {
    name: 'crun',
    title: 'crun, local rootfs, no cgroup',
    role: 'peer',
    works: false,
    open: async (job) => {
      writeSpecification(crun, bundle, rootfs, job.argv)
      return createRunner(() => {
        calls += 1
        const options = ['--root', state, '--cgroup-manager=disabled']
        return spawnAndWait([crun, ...options, 'run', '--bundle', bundle, `cordon-bench-${process.pid}-${calls}`], {})
      })
    },
    close: async () => {},
  }
}

/**
 * @param {string} crun
 * @param {string} bundle
 * @param {string} rootfs
 * @param {readonly string[]} argv
 */
function writeSpecification(crun, bundle, rootfs, argv) {
  const file = path.join(bundle, 'config.json')
  execFileSync(crun, ['spec', '--file', file])
  const specification = JSON.parse(readFileSync(file, 'utf8'))
  specification.process.args = argv
  specification.process.terminal = false
  specification.process.rlimits = []
  specification.root = { path: rootfs, readonly: true }
  delete specification.linux.resources
  writeFileSync(file, JSON.stringify(specification))
}
