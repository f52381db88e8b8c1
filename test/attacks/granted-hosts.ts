// Cells with granted hosts, served as the runtime serves them, against servers of the tests.
import { afterAll } from 'vitest'

import type { EgressEvent } from '../../src/egress/index.js'
import { parseIpAddress } from '../../src/policy/index.js'
import { createCallNetworks, openNetwork } from '../../src/runtime/network/index.js'
import type { CallResult } from '../../src/sandbox/index.js'
import { echo, serverAuthority, startHttps, startTcp } from '../egress/servers.js'

import { boundaryOf, programs } from './harness.js'
import type { Cell, PolicyText } from './harness.js'

export const GRANTED = 'api.test'
/** Leads to the same servers, and is granted to nobody. */
export const OTHER = 'other.test'

const here = parseIpAddress('127.0.0.1')
if (here === undefined) throw new Error('no address')

const asked: string[] = []
const events: EgressEvent[] = []
const networks = createCallNetworks(
  () =>
    openNetwork({
      authorities: [serverAuthority.certificate],
      record: (event) => { events.push(event) },
      // Whatever is looked up, is looked up here.
      resolve: (name) => {
        asked.push(name)
        return Promise.resolve([])
      },
    }),
  new Map([GRANTED, OTHER, `deep.${GRANTED}`].map((name) => [name, [here]])),
)

export const web = await startHttps(echo, { host: GRANTED })
/** Says what it hears. */
export const repeater = await startTcp((socket) => { socket.pipe(socket) })

afterAll(async () => {
  networks.close()
  await Promise.all([web.close(), repeater.close()])
})

/** Names that were looked up by anybody for the calls so far. */
export const lookedUp = (): readonly string[] => asked
export const recorded = (): readonly EgressEvent[] => events

export interface GrantedCall {
  readonly result: CallResult
  readonly stdout: string
  readonly stderr: string
}

export const WEB_GRANT = `${GRANTED}:${String(web.port)}`
export const REPEATER_GRANT = `${GRANTED}:${String(repeater.port)}`

let calls = 0

/** Runs a command in a cell that may reach these. */
export const runGranted = async (cell: Cell, network: readonly string[], argv: readonly string[], policy: Omit<PolicyText, 'network'> = {}): Promise<GrantedCall> => {
  const boundary = boundaryOf({ ...policy, network }, programs.folder, programs.folder)
  calls += 1
  const call = { callId: `call-${String(calls)}`, writeApproval: 'recorded' as const }
  const result = await networks.during(boundary, call, (input) =>
    cell.sandbox.run({ boundary, form: cell.form, cwd: programs.folder, argv, ...networks.settingsFor(boundary), ...input }))
  return { result, stdout: Buffer.from(result.stdout).toString('latin1'), stderr: Buffer.from(result.stderr).toString('latin1') }
}
