// A PostgreSQL server for a measurement, with the settings that Debian gives it.
import { execFileSync, spawnSync } from 'node:child_process'
import { chownSync, existsSync, readdirSync } from 'node:fs'
import path from 'node:path'

/** @returns {string | undefined} the folder with the programs of the newest server */
export function findServer() {
  const base = '/usr/lib/postgresql'
  return (existsSync(base) ? readdirSync(base) : [])
    .sort((a, b) => Number(b) - Number(a))
    .map(version => path.join(base, version, 'bin'))
    .find(bin => ['initdb', 'pg_ctl', 'pgbench'].every(program => existsSync(path.join(bin, program))))
}

/**
 * @param {string} bin
 * @param {string} folder
 */
export function startServer(bin, folder) {
  // PostgreSQL refuses to run as root.
  const number = (/** @type {string} */ option) => Number(execFileSync('id', [option, 'postgres'], { encoding: 'utf8' }))
  const user = process.getuid?.() === 0 ? { uid: number('-u'), gid: number('-g') } : undefined
  if (user !== undefined) chownSync(folder, user.uid, user.gid)
  const options = { ...user, cwd: folder, env: { ...process.env, LC_ALL: 'C' } }
  /** @param {string} program @param {string[]} words */
  const run = (program, words) => execFileSync(path.join(bin, program), words, { ...options, stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8' })
  const data = path.join(folder, 'data')
  run('initdb', ['--pgdata', data, '--username', 'postgres', '--auth', 'trust', '--encoding', 'UTF8', '--no-instructions'])
  const settings = `-c listen_addresses= -c unix_socket_directories=${folder} -c max_connections=200`
  // Not by a pipe: the server would hold it open.
  execFileSync(path.join(bin, 'pg_ctl'), ['--pgdata', data, '--wait', '--silent', '--log', path.join(folder, 'log'), '--options', settings, 'start'], { ...options, stdio: 'ignore' })
  return {
    url: (/** @type {string} */ login = 'postgres') => `postgres://${login}@/postgres?host=${encodeURIComponent(folder)}`,
    /** @param {string} script @param {number} clients @param {number} seconds */
    pgbench: (script, clients, seconds) => {
      const said = run('pgbench', ['--host', folder, '--username', 'postgres', '--no-vacuum', '--protocol', 'prepared', '--client', String(clients), '--jobs', '2', '--time', String(seconds), '--file', script, 'postgres'])
      return Number(/tps = ([\d.]+)/.exec(said)?.[1] ?? Number.NaN)
    },
    stop: () => void spawnSync(path.join(bin, 'pg_ctl'), ['--pgdata', data, '--silent', '--mode', 'immediate', 'stop'], options),
  }
}
