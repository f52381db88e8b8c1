// A team in a store with its own `cordon serve`. Commands run against it, and setup uses its socket, which is fast.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

import { expect } from 'vitest'

import { openRemoteAccess } from '../../src/store/index.js'
import type { RequestOf, StoreAccess } from '../../src/store/index.js'

import { CORDON, NODE_OPTIONS, cordon, temporaryFolder } from '../../../core/test/cli/cordon.js'
import type { Ran } from '../../../core/test/cli/cordon.js'

export interface ServedTeam {
  readonly folder: string
  /** `--server` of the commands. */
  readonly server: string
  /** Types a command in somebody's name. */
  readonly as: (actor: string, ...words: readonly string[]) => Ran
  readonly json: (actor: string, ...words: readonly string[]) => unknown
  /** Asks in somebody's name, without a command. */
  readonly by: (actor: string) => StoreAccess
  readonly register: (key: string, more?: Omit<RequestOf<'registerTool'>, 'team' | 'key'>) => Promise<void>
  /** Asked for by bot. */
  readonly invoke: (tool: string, input?: unknown) => Promise<string>
  /** Begun by bot, as its runner. */
  readonly claim: (id: string) => Promise<{ readonly fence: string }>
  readonly close: () => Promise<void>
}

/** `ada` is admin, `anna` and `otto` are operators, `bot` is agent and runner. */
export const openServedTeam = async (): Promise<ServedTeam> => {
  const folder = temporaryFolder()
  const server = spawn(
    process.execPath,
    [...NODE_OPTIONS, CORDON, 'serve', '--store', join(folder, 'store'), '--as', 'ada', '--json'],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  await once(server.stdout, 'data')
  const place = `unix:${join(folder, 'store', 'socket')}`
  const opened: StoreAccess[] = []
  // A new connection each time: one that the server has closed while a command was waited for is not noticed here.
  const by = (actor: string): StoreAccess => {
    const access = openRemoteAccess({ server: place, actor })
    opened.push(access)
    return access
  }
  const as: ServedTeam['as'] = (actor, ...words) => cordon([...words, '--server', place, '--as', actor])
  await by('ada').ask('foundTeam', { team: 'acme', admin: 'ada' })
  for (const [actor, kind] of [
    ['anna', 'operator'],
    ['otto', 'operator'],
    ['bot', 'agent'],
    ['bot', 'runner'],
  ] as const)
    await by('ada').ask('addMember', { team: 'acme', actor, kind })
  // However long the machine takes for all of it.
  await by('bot').ask('heartbeat', { runner: 'host', leaseMs: 3_600_000 })
  return {
    folder,
    server: place,
    as,
    by,
    json: (actor, ...words) => {
      const { status, stdout, stderr } = as(actor, ...words, '--json')
      return status === 0 ? (JSON.parse(stdout) as unknown) : expect.fail(stderr)
    },
    register: async (key, more = { egressClass: 'none', requiresApproval: false }) => {
      await by('ada').ask('registerTool', { team: 'acme', key, ...more })
      await by('ada').ask('assignTool', { team: 'acme', agent: 'bot', tool: key })
    },
    invoke: async (tool, input = {}) => (await by('bot').ask('invoke', { team: 'acme', tool, agent: 'bot', input })).id,
    claim: async (id) =>
      (await by('bot').ask('claim', { runner: 'host', id }))[0] ?? expect.fail(`${id} was not claimed`),
    close: async () => {
      await Promise.all(opened.map((access) => access.close()))
      const ended = once(server, 'exit')
      server.kill('SIGTERM')
      await ended
    },
  }
}
