// An empty PostgreSQL server on a Unix socket, for a test or a measurement.
import { execFileSync, spawnSync } from 'node:child_process'
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A copy of an initialised folder is faster than initdb. */
const FRESH = join(dirname(dirname(fileURLToPath(import.meta.url))), 'build', 'postgres')
const FOLDERS = ['/usr/lib/postgresql', '/usr/local/pgsql']

/** Debian has the server programs in a folder for each version. */
export const findServerPrograms = () => {
  const versionsIn = (folder) =>
    readdirSync(folder)
      .sort((a, b) => Number(b) - Number(a))
      .map((version) => join(folder, version))
  const places = FOLDERS.flatMap((folder) => (existsSync(folder) ? [folder, ...versionsIn(folder)] : [])).map((place) =>
    join(place, 'bin'),
  )
  return places.find((place) => existsSync(join(place, 'initdb')) && existsSync(join(place, 'postgres')))
}

const DISKS = {
  /** A test can be repeated after a power cut. */
  'ignored': { initdb: ['--no-sync'], settings: ['fsync=off'] },
  /** As in production. */
  'waited for': { initdb: [], settings: [] },
}

export const startServer = ({ settings = [], addresses = '', disk = 'ignored', under = '/tmp' } = {}) => {
  const programs = findServerPrograms()
  if (programs === undefined) throw new Error('PostgreSQL is not installed: apt-get install postgresql')
  const folder = mkdtempSync(join(under, 'cordon-pg-'))
  // PostgreSQL refuses to run as root.
  const user = process.getuid?.() === 0 ? idsOf('postgres') : undefined
  if (user !== undefined) chownSync(folder, user.uid, user.gid)
  const asServer = { ...user, cwd: folder, env: { ...process.env, LC_ALL: 'C' } }
  const run = (program, words, output = 'pipe') =>
    execFileSync(join(programs, program), words, { ...asServer, encoding: 'utf8', stdio: ['ignore', output, 'pipe'] })
  const data = join(folder, 'data')
  const initialize = () =>
    run('initdb', [
      '--pgdata',
      data,
      '--username',
      'postgres',
      '--auth',
      'trust',
      '--encoding',
      'UTF8',
      '--no-instructions',
      ...DISKS[disk].initdb,
    ])
  if (disk === 'waited for') initialize()
  else copyFresh({ version: basename(dirname(programs)), data, user, initialize })
  const options = [
    `listen_addresses=${addresses}`,
    `unix_socket_directories=${folder}`,
    'max_connections=200',
    ...DISKS[disk].settings,
    ...settings,
  ]
    .map((setting) => `-c ${setting}`)
    .join(' ')
  // No pipe, which the server would keep open.
  const start = () =>
    void run(
      'pg_ctl',
      ['--pgdata', data, '--wait', '--silent', '--log', join(folder, 'log'), '--options', options, 'start'],
      'ignore',
    )
  const stop = (how = 'fast') =>
    void spawnSync(join(programs, 'pg_ctl'), ['--pgdata', data, '--wait', '--silent', '--mode', how, 'stop'], asServer)
  start()
  return {
    url: (login = 'postgres', database = 'postgres') =>
      `postgres://${login}@/${database}?host=${encodeURIComponent(folder)}`,
    folder,
    run: (program, words) => run(program, words),
    start,
    stop,
    remove: () => {
      stop('immediate')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Made once. A process that makes one at the same time uses its own. */
const copyFresh = ({ version, data, user, initialize }) => {
  const fresh = join(FRESH, version)
  if (existsSync(fresh)) {
    execFileSync('cp', ['-R', fresh, data])
    if (user !== undefined) execFileSync('chown', ['-R', `${user.uid}:${user.gid}`, data])
    return
  }
  initialize()
  mkdirSync(FRESH, { recursive: true })
  const unfinished = mkdtempSync(join(FRESH, 'unfinished-'))
  execFileSync('cp', ['-R', data, join(unfinished, version)])
  try {
    renameSync(join(unfinished, version), fresh)
  } catch (error) {
    if (!existsSync(fresh)) throw error
  }
  rmSync(unfinished, { recursive: true, force: true })
}

const idsOf = (name) => ({
  uid: Number(execFileSync('id', ['-u', name], { encoding: 'utf8' })),
  gid: Number(execFileSync('id', ['-g', name], { encoding: 'utf8' })),
})
