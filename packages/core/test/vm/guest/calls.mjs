// Calls with limits where cgroups can be had, looked at from outside while they run.
import { existsSync, mkdirSync, readFileSync, readdirSync, rmdirSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'

import { boundaryOf, openSandbox, run } from './facts.mjs'

const MEMORY = { limits: { memory: '24M' } }
const BOTH = { limits: { memory: '24M', processes: 16 } }
const BOMB = ['/programs/memory-bomb', 'children', '200']

// See SECONDS_UNTIL_STALE in native/boundary/cgroup.c.
const STALE_MS = 11_500

const until = async (condition) => {
  for (let tries = 0; tries < 300; tries += 1) {
    if (condition()) return true
    await pause(50)
  }
  return false
}

const read = (path) => {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch (error) {
    return String(error.code)
  }
}

const lookInto = (parent) => {
  const cgroups = () => readdirSync(parent).filter((name) => name.startsWith('cordon-cell-'))
  const file = (cgroup, name) => read(`${parent}/${cgroup}/${name}`)
  const tasksIn = (cgroup) => file(cgroup, 'cgroup.procs').split('\n').map(Number).filter(Boolean)
  /** The call's cgroup and its supervisor, once the tool runs this program. */
  const find = async (program) => {
    const isIts = (name) => tasksIn(name).some((pid) => read(`/proc/${pid}/comm`) === program)
    await until(() => cgroups().some(isIts))
    const cgroup = cgroups().find(isIts)
    const keeper = Math.min(...tasksIn(cgroup))
    return { cgroup, supervisor: Number(/^PPid:\s*(\d+)/m.exec(read(`/proc/${keeper}/status`))[1]) }
  }
  return { cgroups, file, find, emptied: (cgroup) => until(() => tasksIn(cgroup).length === 0) }
}

export const makeCalls = async (tell, form) => {
  const sandbox = await openSandbox()
  tell('host', sandbox.host.cgroup)
  const { parent } = sandbox.host.cgroup
  const tree = lookInto(parent)
  const call = (policy, argv) => run(sandbox, policy, argv, form)

  const orphaned = call(MEMORY, ['/bin/sleep', '600'])
  const orphan = await tree.find('sleep')
  process.kill(orphan.supervisor, 'SIGKILL')
  tell('a killed supervisor', await orphaned)
  tell('nobody is left', await tree.emptied(orphan.cgroup))
  const orphanedAt = Date.now()
  const others = `${parent}/other-cell-1`
  mkdirSync(others)

  tell('without limits', await call({}, ['/bin/echo', 'well']))
  tell('with a limit', await call(BOTH, ['/bin/cat', '/proc/self/cgroup']))
  tell(
    'its own tree',
    await call(MEMORY, [
      '/bin/sh',
      '-c',
      `ls ${parent}; echo 0 > ${parent}/cgroup.procs; mkdir ${parent}/mine; echo done`,
    ]),
  )
  tell('memory', await call(MEMORY, BOMB))
  tell('memory in the kernel', await call(MEMORY, ['/programs/memory-bomb', 'pipes', '200']))
  tell('left behind', await call(MEMORY, ['/bin/sh', '-c', '(setsid sleep 600 &); echo left']))

  const unwatched = call(BOTH, ['/bin/sh', '-c', `sleep 2; exec ${BOMB.join(' ')}`])
  const { cgroup, supervisor } = await tree.find('sleep')
  process.kill(supervisor, 'SIGSTOP')
  tell(
    'its files',
    Object.fromEntries(
      ['memory.max', 'memory.swap.max', 'memory.oom.group', 'pids.max'].map((name) => [name, tree.file(cgroup, name)]),
    ),
  )
  tell('while its supervisor is stopped', {
    emptied: await tree.emptied(cgroup),
    events: tree.file(cgroup, 'memory.events'),
  })
  process.kill(supervisor, 'SIGCONT')
  tell('once its supervisor goes on', await unwatched)

  tell('required', await call({ require: ['cgroup'] }, ['/bin/echo', 'well']))
  const pool = sandbox.warm({ boundary: boundaryOf(MEMORY), cwd: '/tmp', program: BOMB[0] })
  await pool.ready()
  const { status, limit, profile } = await pool.run({ argv: BOMB })
  tell('warm', { status, limit, enforced: profile.enforced })
  pool.close()
  await sandbox.close()
  tell('nothing stays', await until(() => tree.cgroups().every((name) => name === orphan.cgroup)))

  await pause(Math.max(0, orphanedAt + STALE_MS - Date.now()))
  const before = existsSync(`${parent}/${orphan.cgroup}`)
  await (await openSandbox({ nursery: 'none' })).close()
  tell('sweep', { before, after: existsSync(`${parent}/${orphan.cgroup}`), others: existsSync(others) })
  rmdirSync(others)
}
