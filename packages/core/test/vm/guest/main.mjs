// Runs in the machine: the same process in one place of the cgroup tree after the other, first as root, then as an
// ordinary user. (One process, because emulated it takes long to start.) Each line that it tells is a fact for the
// host.
import { spawn } from 'node:child_process'
import { chownSync, mkdirSync, writeFileSync } from 'node:fs'

import { makeCalls } from './calls.mjs'
import { crash, installHandler } from './crashes.mjs'
import { openSandbox, run, tellAt } from './facts.mjs'

const TREE = '/sys/fs/cgroup'
const USER = 1000

const visit = async (place, scenario) => {
  const tell = tellAt(place)
  await scenario(tell).catch((error) => tell('failure', String(error.stack)))
}
const moveTo = (cgroup, pid = process.pid) => writeFileSync(`${cgroup}/cgroup.procs`, String(pid))

installHandler()
await visit('root', (tell) => makeCalls(tell, 'landlock'))
await visit('root', (tell) => crash(tell, ['namespaces', 'landlock']))

// Delegated as the kernel's documentation says: the folder and these files belong to the user, who lives in a part of
// it.
const delegated = `${TREE}/delegated`
mkdirSync(`${delegated}/host`, { recursive: true })
for (const name of ['', 'cgroup.procs', 'cgroup.subtree_control', 'host', 'host/cgroup.procs'])
  chownSync(`${delegated}/${name}`, USER, USER)
moveTo(`${delegated}/host`)
process.setgroups([])
process.setgid(USER)
process.setuid(USER)
await visit('delegated', (tell) => makeCalls(tell, 'namespaces'))
await visit('delegated', (tell) => crash(tell, ['namespaces', 'landlock']))

// Somebody else lives in the cgroup that would have to be divided, which the kernel then refuses.
const crowded = `${delegated}/crowded`
mkdirSync(`${crowded}/host`, { recursive: true })
const neighbour = spawn('/bin/sleep', ['600'])
moveTo(crowded, neighbour.pid)
moveTo(`${crowded}/host`)
await visit('crowded', async (tell) => {
  const sandbox = await openSandbox({ nursery: 'none' })
  tell('host', sandbox.host.cgroup)
  tell('with a limit', await run(sandbox, { limits: { memory: '24M' } }, ['/bin/echo', 'well']))
  tell('required', await run(sandbox, { require: ['cgroup'] }, ['/bin/echo', 'well']))
  await sandbox.close()
})
neighbour.kill()
tellAt('machine')('end', true)
