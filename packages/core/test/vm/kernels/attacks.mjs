// The attack programs of test/attacks, each in cells of every form. Without a cell each runs too: a program that cannot
// attack proves nothing.
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'

import { routesIn, callIn } from './cells.mjs'
import { startService } from './services.mjs'

/** On the disk. /tmp of a cell is its own. */
const GROUNDS = '/var/tmp'

const playground = () => {
  const root = mkdtempSync(`${GROUNDS}/cda-`)
  const folder = (name) => {
    mkdirSync(`${root}/${name}`, { recursive: true })
    return `${root}/${name}`
  }
  const file = (name, content = `SECRET of ${name}\n`) => {
    writeFileSync(`${root}/${name}`, content, { mode: 0o600 })
    return `${root}/${name}`
  }
  return { root, inside: folder('inside'), outside: folder('outside'), file, folder }
}

const writeInside = ({ inside }) => ({ filesystem: { write: [inside] } })

const loader = () => {
  const folder = existsSync('/usr/lib64') ? '/lib64' : '/lib'
  const find = (place) => readdirSync(place).find((name) => /^ld-linux.*\.so/.test(name))
  return [folder, '/lib'].flatMap((place) => (find(place) === undefined ? [] : [`${place}/${find(place)}`]))[0]
}

/** Each returns the words of the program and the policy of the call. */
const ATTACKS = {
  'read-path': (ground) => ({ args: [ground.file('key'), ground.inside], policy: writeInside(ground) }),
  'write-outside': (ground) => {
    execFileSync('/programs/write-outside', ['--seed', ground.outside])
    return { args: [ground.outside, ground.inside], policy: writeInside(ground) }
  },
  'metadata': (ground) => ({ args: [ground.file('owned'), ground.inside], policy: writeInside(ground) }),
  'carve-out': (ground) => {
    execFileSync('/programs/carve-out', ['--seed', 'write', ground.inside])
    return {
      args: ['write', ground.inside],
      policy: { filesystem: { write: [ground.inside, `!${ground.inside}/**/secret`] } },
    }
  },
  'new-namespaces': () => ({ args: [], policy: {} }),
  'kernel-interfaces': (ground) => {
    const readable = ground.file('readable')
    return { args: [readable], policy: { filesystem: { read: [readable] } } }
  },
  // Without a cell nobody tries the disk: it is the one that this runs from.
  'root-power': (ground, { isConfined }) => ({
    args: [isConfined ? '/dev/vda' : '-', ground.inside],
    policy: writeInside(ground),
  }),
  'wrong-architecture': (ground) => ({ args: [ground.inside], policy: writeInside(ground) }),
  'exec-policy': (ground) => ({
    args: ['/usr/bin/true', ground.inside, loader()],
    policy: { ...writeInside(ground), exec: 'none' },
  }),
  'host-ipc': async () => {
    const key = String(0x2c000000 + process.pid)
    const service = await startService('ipc-host', [key, `cordon-${key}`])
    return { args: [key, `cordon-${key}`], policy: {}, service }
  },
  'other-processes': async (ground) => {
    const service = await startService('victim', [ground.file('secret'), 'victim'])
    const { pid, address, fd } = service.place()
    return { args: [String(pid), address, String(fd)], policy: {}, service }
  },
  'sockets': async (ground) => {
    const service = await startService('host-listeners', [ground.outside, 'cordon-sockets'])
    const { tcp, udp } = service.place()
    return { args: [String(tcp), String(udp)], policy: {}, service }
  },
  'unix-sockets': async (ground) => {
    const { outside, inside } = ground
    const service = await startService('host-listeners', [outside, 'cordon-unix'])
    const names = [`${outside}/stream`, `${outside}/datagram`, 'cordon-unix-stream', 'cordon-unix-datagram']
    return { args: [...names, inside], policy: { filesystem: { read: [outside], write: [inside] } }, service }
  },
}

/** These change or kill what is around them: only in cells. */
const ONLY_CONFINED = {
  supervisor: (_, { form }) => ({ args: [form === 'landlock' ? 'parent' : 'first'], policy: {} }),
  deputy: (ground) => ({
    args: [ground.folder('inside/a/b')],
    policy: { filesystem: { read: [ground.inside] } },
  }),
}

const inGround = async (make, settings, perform) => {
  const ground = playground()
  const { args, policy, service } = await make(ground, settings)
  const done = await perform(ground, args, policy)
  const after = await service?.finish()
  rmSync(ground.root, { recursive: true, force: true })
  return { ...done, after }
}

const confined = (sandbox, form, name, make) =>
  inGround(make, { isConfined: true, form }, async ({ root }, args, policy) => {
    const { stdout = '', ...rest } = await callIn(sandbox, form, {
      argv: [`/programs/${name}`, ...args],
      policy,
      workspace: root,
    })
    return { ...rest, routes: routesIn(stdout), leaked: stdout.includes('SECRET') }
  })

const unconfined = (name, make) =>
  inGround(make, { isConfined: false }, (_, args) => {
    const { status, stdout } = spawnSync(`/programs/${name}`, args, { encoding: 'latin1' })
    const escaped = routesIn(stdout).filter(({ outcome }) => outcome === 'escaped')
    return { status, escaped: escaped.map(({ route }) => route) }
  })

export const attack = async (tell, sandbox, forms) => {
  for (const [name, make] of Object.entries({ ...ATTACKS, ...ONLY_CONFINED }))
    for (const form of forms) tell(`${name} (${form})`, await confined(sandbox, form, name, make))
  for (const [name, make] of Object.entries(ATTACKS)) tell(`${name} without a cell`, await unconfined(name, make))
}
