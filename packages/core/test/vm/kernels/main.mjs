// Runs in the guest: what a user of the installed package would do there, first as root, then as an ordinary user. (One
// process, because emulated it takes long to start.) Each line that it tells is a fact for the host.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'

import { attack } from './attacks.mjs'
import { callIn, openSandbox, tellAt } from './cells.mjs'

const USER = 1000
const CORDON = '/opt/project/node_modules/.bin/cordon'

const FORMS = ['namespaces', 'landlock', 'mounts']

const cordon = (words, user) => start([CORDON, ...words], user)

const start = async ([program, ...words], user) => {
  const child = spawn(program, words, {
    cwd: '/',
    env: { PATH: '/usr/bin:/bin', HOME: user === 0 ? '/root' : '/home/user' },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(user === process.getuid() ? {} : { uid: user, gid: user }),
  })
  const [stdout, stderr, [status]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { status, stdout, stderr }
}

const doctor = async (user, before = []) => {
  const { status, stdout, stderr } = await start([...before, CORDON, 'doctor', '--json'], user)
  return { status, stderr, ...(stdout === '' ? {} : { diagnosis: JSON.parse(stdout) }) }
}

const SECRET = '/home/user/secret'
const GRANTED = '/home/user/granted'

const runIn = async (tell, form, user) => {
  const command = ['sh', '-c', `cat ${GRANTED}; cat ${SECRET}`]
  tell(`cordon run (${form})`, await cordon(['run', '--form', form, '--read', GRANTED, '--', ...command], user))
}

const CALL = { argv: ['/bin/echo', 'well'], workspace: '/var/tmp' }

const callInBubblewrap = async () => {
  try {
    const sandbox = await openSandbox({ backend: 'bubblewrap' })
    const called = await callIn(sandbox, 'auto', CALL)
    await sandbox.close()
    return called
  } catch ({ code, message }) {
    return { status: 'refused', code, message }
  }
}

const visit = async (place) => {
  const tell = tellAt(place)
  try {
    const user = process.getuid()
    // Together, because each takes one processor for seconds to start.
    const [examined] = await Promise.all([doctor(user), ...FORMS.map((form) => runIn(tell, form, user))])
    tell('doctor', examined)
    const forms = FORMS.filter((form) => examined.diagnosis?.forms?.[form].held === true)
    const sandbox = await openSandbox()
    tell('launcher', sandbox.host.launcher)
    for (const form of FORMS) tell(`call (${form})`, await callIn(sandbox, form, CALL))
    tell('call in bubblewrap', await callInBubblewrap())
    await attack(tell, sandbox, forms)
    await sandbox.close()
  } catch (error) {
    tell('failure', String(error.stack))
  }
}

/** A setting of the kernel that refuses something, while `doctor` looks. */
const withSetting = async (path, value, examine) => {
  const before = readFileSync(path, 'utf8')
  writeFileSync(path, value)
  try {
    return await examine()
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

/** What `doctor` says where something refuses namespaces. */
const trySettings = async (tell) => {
  for (const name of ['user/max_user_namespaces', 'kernel/unprivileged_userns_clone'])
    tell(name, await withSetting(`/proc/sys/${name}`, '0', () => doctor(USER)))
  for (const name of ['refuses-mounts', 'cordon']) {
    writeFileSync('/sys/kernel/security/apparmor/.load', readFileSync(`/profiles/${name}`))
    tell(`apparmor ${name}`, await doctor(USER, underProfile(name)))
  }
}

mkdirSync('/home/user', { recursive: true })
for (const path of [SECRET, GRANTED]) {
  writeFileSync(path, `${path === SECRET ? 'SECRET' : 'granted'}\n`)
  chownSync(path, USER, USER)
}
chownSync('/home/user', USER, USER)
chmodSync('/var/tmp', 0o1777)

await visit('root')
if (readFileSync('/proc/cmdline', 'utf8').includes('try-settings')) await trySettings(tellAt('settings'))
process.setgroups([])
process.setgid(USER)
process.setuid(USER)
await visit('user')
tellAt('machine')('end', true)
