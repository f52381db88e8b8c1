// Runs in the guest: what a user of the installed package would do there, first as root, then as an ordinary user. (One
// process, because emulated it takes long to start.) Each line that it tells is a fact for the host.
import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'

import { attack } from './attacks.mjs'
import { openSandbox, runIn, tellAt } from './cells.mjs'

const USER = 1000
const CORDON = '/opt/project/node_modules/.bin/cordon'

const cordon = (words, user) => start([CORDON, ...words], user)

const start = ([program, ...words], user) => {
  const { status, stdout, stderr } = spawnSync(program, words, {
    cwd: '/',
    env: { PATH: '/usr/bin:/bin', HOME: user === 0 ? '/root' : '/home/user' },
    encoding: 'utf8',
    ...(user === process.getuid() ? {} : { uid: user, gid: user }),
  })
  return { status, stdout, stderr }
}

const doctor = (user, before = []) => {
  const { status, stdout, stderr } = start([...before, CORDON, 'doctor', '--json'], user)
  return { status, stderr, ...(stdout === '' ? {} : { diagnosis: JSON.parse(stdout) }) }
}

const SECRET = '/home/user/secret'
const GRANTED = '/home/user/granted'

const visit = async (place) => {
  const tell = tellAt(place)
  try {
    const user = process.getuid()
    const examined = doctor(user)
    tell('doctor', examined)
    const forms = Object.entries(examined.diagnosis?.forms ?? {}).flatMap(([form, { held }]) => (held ? [form] : []))
    for (const form of ['namespaces', 'landlock'])
      tell(
        `cordon run (${form})`,
        cordon(['run', '--form', form, '--read', GRANTED, '--', 'sh', '-c', `cat ${GRANTED}; cat ${SECRET}`], user),
      )
    const sandbox = await openSandbox()
    tell('launcher', sandbox.host.launcher)
    tell('landlock', sandbox.host.landlock)
    for (const form of ['namespaces', 'landlock'])
      tell(`call (${form})`, await runIn(sandbox, form, { argv: ['/bin/echo', 'well'], workspace: '/var/tmp' }))
    await attack(tell, sandbox, forms)
    await sandbox.close()
  } catch (error) {
    tell('failure', String(error.stack))
  }
}

/** A setting of the kernel that refuses something, while `doctor` looks. */
const withSetting = (path, value, examine) => {
  const before = readFileSync(path, 'utf8')
  writeFileSync(path, value)
  try {
    return examine()
  } finally {
    writeFileSync(path, before)
  }
}

/** The words that start a command under a profile of AppArmor. */
const underProfile = (name) => [
  ...['/bin/sh', '-c'],
  'echo "exec $0" > /proc/self/attr/apparmor/exec && exec "$@"',
  name,
]

mkdirSync('/home/user', { recursive: true })
for (const path of [SECRET, GRANTED]) {
  writeFileSync(path, `${path === SECRET ? 'SECRET' : 'granted'}\n`)
  chownSync(path, USER, USER)
}
chownSync('/home/user', USER, USER)
chmodSync('/var/tmp', 0o1777)

await visit('root')
const settings = tellAt('settings')
for (const name of ['user/max_user_namespaces', 'kernel/unprivileged_userns_clone'])
  settings(
    name,
    withSetting(`/proc/sys/${name}`, '0', () => doctor(USER)),
  )
for (const name of ['refuses-mounts', 'cordon']) {
  writeFileSync('/sys/kernel/security/apparmor/.load', readFileSync(`/profiles/${name}`))
  settings(`apparmor ${name}`, doctor(USER, underProfile(name)))
}
process.setgroups([])
process.setgid(USER)
process.setuid(USER)
await visit('user')
tellAt('machine')('end', true)
