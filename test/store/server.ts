// A PostgreSQL server of the tests' own, on a Unix socket, with nothing but itself in it.
import { execFileSync, spawnSync } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'

export interface Server {
  readonly url: (login?: string, database?: string) => string
  readonly stop: (how?: 'fast' | 'immediate') => void
  readonly start: () => void
  readonly remove: () => void
  /** Where its socket, its data and its log are. */
  readonly folder: string
}

const FOLDERS = ['/usr/lib/postgresql', '/usr/local/pgsql']

/** Debian keeps the programs of a server apart from its clients, by version. */
export const findServerPrograms = (): string | undefined => {
  const places = FOLDERS.flatMap((folder) => (existsSync(folder) ? [folder, ...readdirSync(folder).sort().reverse().map((version) => join(folder, version))] : [])).map((place) => join(place, 'bin'))
  return places.find((place) => existsSync(join(place, 'initdb')) && existsSync(join(place, 'postgres')))
}

/** `settings`: further ones, such as addresses to listen at besides the socket. */
export const startServer = (settings: readonly string[] = ['listen_addresses=']): Server => {
  const programs = findServerPrograms()
  if (programs === undefined) throw new Error('PostgreSQL is not installed: apt-get install postgresql')
  const folder = mkdtempSync('/tmp/cordon-pg-')
  // PostgreSQL refuses to run as root.
  const user = process.getuid?.() === 0 ? idsOf('postgres') : undefined
  if (user !== undefined) chownSync(folder, user.uid, user.gid)
  const run = (program: string, words: readonly string[]) => execFileSync(join(programs, program), words, { ...user, cwd: folder, stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, LC_ALL: 'C' } })
  const data = join(folder, 'data')
  run('initdb', ['--pgdata', data, '--username', 'postgres', '--auth', 'trust', '--encoding', 'UTF8', '--no-sync', '--no-instructions'])
  const options = `${settings.map((setting) => `-c ${setting}`).join(' ')} -c unix_socket_directories=${folder} -c fsync=off -c max_connections=200`
  const start = () => void run('pg_ctl', ['--pgdata', data, '--wait', '--silent', '--log', join(folder, 'log'), '--options', options, 'start'])
  const stop = (how: 'fast' | 'immediate' = 'fast') => void spawnSync(join(programs, 'pg_ctl'), ['--pgdata', data, '--wait', '--silent', '--mode', how, 'stop'], { ...user, cwd: folder })
  start()
  return {
    url: (login = 'postgres', database = 'postgres') => `postgres://${login}@/${database}?host=${encodeURIComponent(folder)}`,
    folder,
    start,
    stop,
    remove: () => {
      stop('immediate')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const idsOf = (name: string) => ({ uid: Number(execFileSync('id', ['-u', name], { encoding: 'utf8' })), gid: Number(execFileSync('id', ['-g', name], { encoding: 'utf8' })) })
