// Fetches the parts of the guests of packages/core/test/vm/kernels.matrix.test.ts: kernels and programs from Debian's
// packages, and Node from npm. It installs nothing on this machine, and changes no setting of its apt.
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'

import { TEST_CACHE } from './npm-programs.mjs'

const PARTS = join(TEST_CACHE, 'guests')
const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg'

const X86_64 = { debian: 'amd64', node: 'x64', target: 'x86_64' }
const AARCH64 = { debian: 'arm64', node: 'arm64', target: 'aarch64' }

const ALL_FORMS = ['namespaces', 'landlock', 'mounts']

/** For `npm run test:guests`. */
export const GUESTS = [
  { name: 'x86_64 with Linux 6.1', ...X86_64, suite: 'bookworm', words: [], landlock: 2, forms: ALL_FORMS },
  { name: 'aarch64 with Linux 6.1', ...AARCH64, suite: 'bookworm', words: [], landlock: 2, forms: ALL_FORMS },
  {
    name: 'x86_64 with Linux 6.1 and no Landlock',
    ...X86_64,
    suite: 'bookworm',
    words: ['lsm=apparmor'],
    landlock: 0,
    forms: ['mounts'],
  },
  { name: 'x86_64 with Linux 6.12', ...X86_64, suite: 'trixie', words: [], landlock: 6, forms: ALL_FORMS },
  { name: 'x86_64 with Linux 5.10', ...X86_64, suite: 'bullseye', words: [], landlock: 0, forms: [] },
]

/** For `npm test`: the one with the processor of this machine, which is emulated fastest. */
export const SHORT_GUESTS = GUESTS.filter(({ node }) => node === process.arch).slice(0, 1)

/** Programs and libraries of one suite for all guests, so that only the kernel differs. */
const PROGRAMS_SUITE = 'bookworm'
const PROGRAMS = [
  ...['libc6', 'libgcc-s1', 'libstdc++6', 'dash', 'coreutils', 'util-linux'],
  ...['libacl1', 'libattr1', 'libgmp10', 'libselinux1', 'libpcre2-8-0'],
  ...['bubblewrap', 'libcap2'],
]

/** The oldest supported line. */
const NODE = '20.20.2'

/** Drivers of the disk, in the order in which they are loaded. A kernel may have some of them built in. */
const DRIVERS = ['virtio', 'virtio_ring', 'virtio_pci_modern_dev', 'virtio_pci_legacy_dev', 'virtio_pci', 'virtio_blk']

/** In the name of a folder, so that other programs go into another one. */
const VERSION_OF_PROGRAMS = createHash('sha256')
  .update([PROGRAMS_SUITE, ...PROGRAMS, NODE].join(' '))
  .digest('hex')
  .slice(0, 8)

/** The folders with the parts of a guest: `vmlinuz` and `modules` of its kernel, and the files of its programs. */
export const partsOf = ({ debian, suite }) => ({
  kernel: join(PARTS, `kernel-${debian}-${suite}`),
  programs: join(PARTS, `programs-${debian}-${VERSION_OF_PROGRAMS}`),
})

const run = (program, words, cwd) => {
  const { status, stdout, stderr, error } = spawnSync(program, words, { cwd, encoding: 'utf8', maxBuffer: 1 << 26 })
  if (status !== 0)
    throw new Error(`${program} ${words.at(-1)}: ${error?.message ?? stderr.trim().split('\n').at(-1) ?? status}`)
  return stdout
}

/** Where apt of this machine gets Debian from. The same place has other architectures and releases. */
const debianMirror = () => {
  const words = ['indextargets', '--format', '$(REPO_URI)', 'Created-By: Packages', 'Origin: Debian', 'Label: Debian']
  const [mirror] = run('apt-get', words).split('\n')
  if (mirror) return mirror
  throw new Error('apt of this machine has no package lists of Debian; use a Debian, and run apt-get update')
}

/** apt with lists of its own, so that it knows only this suite and architecture. */
const aptIn = (state, { debian, suite }) => {
  if (!existsSync(KEYRING)) throw new Error(`there is no ${KEYRING}; apt-get install debian-archive-keyring`)
  for (const folder of ['lists/partial', 'cache/archives/partial']) mkdirSync(join(state, folder), { recursive: true })
  writeFileSync(join(state, 'sources.list'), `deb [signed-by=${KEYRING}] ${debianMirror()} ${suite} main\n`)
  writeFileSync(join(state, 'status'), '')
  const settings = {
    'APT::Architecture': debian,
    'APT::Architectures': debian,
    'APT::Sandbox::User': 'root',
    'APT::Update::Error-Mode': 'any',
    'Acquire::Languages': 'none',
    'Dir::Etc::sourcelist': join(state, 'sources.list'),
    'Dir::Etc::sourceparts': '-',
    'Dir::State::lists': join(state, 'lists'),
    'Dir::State::status': join(state, 'status'),
    'Dir::Cache': join(state, 'cache'),
  }
  const options = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`])
  run('apt-get', [...options, '-q', 'update'], state)
  return {
    /** The package with the kernel itself, on which the one with the stable name depends. */
    kernelPackage: () => {
      const stable = `linux-image-cloud-${debian}`
      const found = /Depends:\s*(linux-image-\d\S*)/.exec(run('apt-cache', [...options, 'depends', stable], state))?.[1]
      if (found === undefined) throw new Error(`${suite} has no ${stable} for ${debian}`)
      return found
    },
    extract: (packages, to) => {
      run('apt-get', [...options, 'download', '-q', ...packages], to)
      for (const archive of readdirSync(to).filter((name) => name.endsWith('.deb'))) {
        run('dpkg-deb', ['--extract', archive, '.'], to)
        rmSync(join(to, archive))
      }
    },
  }
}

/** Makes a folder whole or not at all. `fill` also gets a folder for what is not kept. */
const provideFolder = (folder, fill) => {
  if (existsSync(folder)) return
  const [made, unused] = ['made', 'unused'].map((name) => `${folder}.${process.pid}.${name}`)
  for (const each of [made, unused]) mkdirSync(each, { recursive: true })
  try {
    fill(made, unused)
    renameSync(made, folder)
  } finally {
    for (const each of [made, unused]) rmSync(each, { recursive: true, force: true })
  }
}

const fillKernel = (guest) => (folder, unused) => {
  const apt = aptIn(unused, guest)
  apt.extract([apt.kernelPackage()], unused)
  const files = readdirSync(unused, { recursive: true })
  const kernel = files.find((file) => file.startsWith('boot/vmlinuz'))
  if (kernel === undefined) throw new Error('its package has no kernel')
  copyFileSync(join(unused, kernel), join(folder, 'vmlinuz'))
  mkdirSync(join(folder, 'modules'))
  const found = DRIVERS.flatMap((name) => files.find((file) => file.includes(`/${name}.ko`)) ?? [])
  for (const [index, file] of found.entries())
    copyFileSync(join(unused, file), join(folder, 'modules', `${index}-${basename(file)}`))
}

const fillPrograms = (guest) => (folder, unused) => {
  aptIn(unused, { ...guest, suite: PROGRAMS_SUITE }).extract(PROGRAMS, folder)
  // Packages still bring files of /bin and /lib. On an installed Debian these are links into /usr.
  for (const name of ['bin', 'lib', 'lib64', 'sbin']) {
    mkdirSync(join(folder, name), { recursive: true })
    mkdirSync(join(folder, 'usr', name), { recursive: true })
    run('cp', ['-a', `${name}/.`, `usr/${name}/`], folder)
    rmSync(join(folder, name), { recursive: true })
    symlinkSync(`usr/${name}`, join(folder, name))
  }
  const archive = run('npm', ['pack', '--silent', `node-linux-${guest.node}@${NODE}`], folder).trim()
  execFileSync('tar', ['-xzf', archive, '--strip-components=2', '-C', join(folder, 'usr/bin'), 'package/bin/node'], {
    cwd: folder,
  })
  rmSync(join(folder, archive))
  rmSync(join(folder, 'usr/share'), { recursive: true })
}

/** Returns why parts are missing, one sentence for each guest. */
export const provideGuests = (guests) =>
  guests.flatMap((guest) => {
    try {
      const { kernel, programs } = partsOf(guest)
      provideFolder(kernel, fillKernel(guest))
      provideFolder(programs, fillPrograms(guest))
      return []
    } catch (error) {
      return [`the guest ${guest.name} lacks parts, which are fetched from the network: ${error.message}`]
    }
  })

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const missing = provideGuests(process.argv.includes('--all') ? GUESTS : SHORT_GUESTS)
  for (const sentence of missing) process.stderr.write(`guest-parts: ${sentence}\n`)
  process.exitCode = missing.length === 0 ? 0 : 1
}
