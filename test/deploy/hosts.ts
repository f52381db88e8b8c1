// Hosts for containers of the image: each has a network of its own, and all reach one PostgreSQL.
import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdtempSync } from 'node:fs'
import { request as requestPlain } from 'node:http'
import { request as requestSecure } from 'node:https'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

import { CORDON } from '../repository.js'
import { openPostgres } from '../../packages/team/src/store/index.js'
import type { Engine } from '../../packages/team/src/store/index.js'
import type { TestEngine } from '../../packages/core/test/containers/engine.js'
import { openNetworks } from '../../packages/team/test/faults/networks.js'
import { startServer } from '../../packages/team/test/store/server.js'
import type { Server } from '../../packages/team/test/store/server.js'

import { DEPLOY } from './deploy-files.js'

export interface Container {
  /** Runs a command in it. Returns its exit status. */
  readonly exec: (...command: readonly string[]) => number
  readonly logs: () => string
  /** Undefined while it runs. */
  readonly status: () => number | undefined
  /** Ends its first process by SIGTERM. Returns the exit status of that. */
  readonly stop: () => Promise<number>
}

export interface Asked {
  readonly scheme: 'http' | 'https'
  readonly path: string
  /** The header. */
  readonly host: string
  readonly token?: string
  /** For POST. */
  readonly body?: string
}

export interface Hosts {
  readonly server: Server
  /** The login of its owner. */
  readonly database: Engine
  readonly folder: string
  /** Where the hosts reach the database. */
  readonly address: string
  readonly start: (host: number, options: readonly string[], command: readonly string[]) => Container
  /** Runs a command to its end, in a container. */
  readonly run: (host: number, options: readonly string[], command: readonly string[]) => string
  /** Runs `cordon` of this checkout in the network of a host. */
  readonly cordon: (host: number, ...words: readonly string[]) => string
  /** Asks the server on a host, at port 7070, from another host. */
  readonly ask: (host: number, asked: Asked) => Promise<{ readonly status: number; readonly body: string }>
  /** Removes all containers. */
  readonly clear: () => void
  readonly remove: () => Promise<void>
}

export const openHosts = async ({ command, longCommand, folder: base }: TestEngine, image: string): Promise<Hosts> => {
  const networks = openNetworks(2)
  if (networks === undefined) throw new Error('networks of their own cannot be made here')
  const { address, addressOf, fileOf, within } = networks
  const server = startServer({ addresses: address })
  appendFileSync(join(server.folder, 'data', 'pg_hba.conf'), `host all all ${address}/24 trust\n`)
  const first = openPostgres({ url: server.url() })
  await first.query('select pg_reload_conf()')
  await first.execute('create database cordon')
  await first.close()
  const database = openPostgres({ url: server.url('postgres', 'cordon') })
  const folder = mkdtempSync(join(base, 'hosts-'))
  const network = (host: number) => [`--network=ns:${fileOf(host)}`, `--add-host=database:${address}`]
  return {
    server,
    database,
    folder,
    address,
    start: (host, options, words) => {
      const id = command('run', '--detach', ...network(host), ...options, image, ...words)
      const status = (): number | undefined => {
        const [state, code] = command('inspect', '--format={{.State.Status}} {{.State.ExitCode}}', id).split(' ')
        return state === 'exited' ? Number(code) : undefined
      }
      return {
        status,
        logs: () => command('logs', id),
        exec: (...inside) => {
          try {
            command('exec', id, ...inside)
            return 0
          } catch (error) {
            return (error as { readonly status: number }).status
          }
        },
        stop: async () => {
          await longCommand('stop', '--time=60', id)
          return status() ?? -1
        },
      }
    },
    run: (host, options, words) => command('run', '--rm', ...network(host), ...options, image, ...words),
    cordon: (host, ...words) => {
      const [program = '', ...before] = within(host)
      return execFileSync(program, [...before, process.execPath, CORDON, ...words], {
        env: { PATH: process.env['PATH'], HOME: folder },
        encoding: 'utf8',
        cwd: DEPLOY,
        stdio: ['ignore', 'pipe', 'pipe'],
      })
    },
    ask: (host, { scheme, path, host: named, token, body }) =>
      new Promise((resolve, reject) => {
        const request = (scheme === 'http' ? requestPlain : requestSecure)({
          host: addressOf(host),
          port: 7070,
          path,
          method: body === undefined ? 'GET' : 'POST',
          agent: false,
          headers: {
            'Host': named,
            'Content-Type': 'application/json',
            ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
          },
          // As the kubelet does it.
          rejectUnauthorized: false,
        })
        request.on('error', reject)
        request.on('response', (answer) => {
          text(answer).then((given) => {
            resolve({ status: answer.statusCode ?? 0, body: given })
          }, reject)
        })
        request.end(body)
      }),
    clear: () => {
      command('rm', '--all', '--force', '--time=0')
    },
    remove: async () => {
      await database.close()
      server.remove()
      networks.remove()
    },
  }
}
