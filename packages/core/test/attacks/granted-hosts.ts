// Cells with granted hosts, connected as the runtime connects them, and test servers.
import { afterAll } from 'vitest'

import type { ConnectionEvent } from '../../src/egress/index.js'
import { parseIpAddress } from '../../src/policy/index.js'
import type { IpAddress } from '../../src/policy/index.js'
import { createCallNetworks, openNetwork } from '../../src/runtime/network/index.js'
import type { NetworkCall } from '../../src/runtime/network/index.js'
import type { CallResult } from '../../src/sandbox/index.js'
import { echo, serverAuthority, startHttps, startTcp } from '../egress/servers.js'

import { boundaryOf, programs } from './harness.js'
import type { Cell, PolicyText } from './harness.js'

export const GRANTED = 'api.test'
/** Leads to the same servers, and is granted to nobody. */
export const OTHER = 'other.test'

const addressOf = (text: string): IpAddress => {
  const address = parseIpAddress(text)
  if (address === undefined) throw new Error(`no address: ${text}`)
  return address
}

const here = addressOf('127.0.0.1')

/** Names whose owner lets them lead to where the tool may not go, one address after the other. */
export const REBOUND: Readonly<Record<string, readonly string[]>> = {
  'loopback.test': ['127.0.0.1'],
  'metadata.test': ['169.254.169.254'],
  'metadata6.test': ['fd00:ec2::254'],
  'translated.test': ['64:ff9b::7f00:1'],
  'changing.test': ['192.0.2.7', '127.0.0.1'],
}

const asked: string[] = []
const events: ConnectionEvent[] = []
const networks = createCallNetworks(
  () =>
    openNetwork({
      authorities: [serverAuthority.certificate],
      // Whatever is looked up, is looked up here.
      resolve: (name) => {
        const times = asked.filter((each) => each === name).length
        asked.push(name)
        const answers = REBOUND[name] ?? []
        return Promise.resolve(
          answers
            .slice(times % answers.length || 0)
            .slice(0, 1)
            .map(addressOf),
        )
      },
    }),
  new Map([GRANTED, OTHER, `deep.${GRANTED}`].map((name) => [name, [here]])),
)

export const web = await startHttps(echo, { host: GRANTED })
/** Says what it hears. */
export const repeater = await startTcp((socket) => {
  socket.pipe(socket)
})

afterAll(async () => {
  networks.close()
  await Promise.all([web.close(), repeater.close()])
})

/** Names that were looked up by anybody for the calls so far. */
export const lookedUp = (): readonly string[] => asked
export const recorded = (): readonly ConnectionEvent[] => events

export interface GrantedCall {
  readonly result: CallResult
  readonly stdout: string
  readonly stderr: string
}

export const WEB_GRANT = `${GRANTED}:${String(web.port)}`
export const REPEATER_GRANT = `${GRANTED}:${String(repeater.port)}`

let calls = 0

const nextCall = (): NetworkCall => {
  calls += 1
  return {
    callId: `call-${String(calls)}`,
    writeApproval: 'recorded',
    record: (event) => {
      events.push(event)
    },
  }
}

export interface GrantedOptions extends Omit<PolicyText, 'network'> {
  readonly onStdout?: (text: string) => void
  readonly signal?: AbortSignal
}

/** Runs a command in a cell that may reach these. */
export const runGranted = async (
  cell: Cell,
  network: NonNullable<PolicyText['network']>,
  argv: readonly string[],
  { onStdout, signal, ...policy }: GrantedOptions = {},
): Promise<GrantedCall> => {
  const boundary = boundaryOf({ ...policy, network }, programs.folder, programs.folder)
  const heard =
    onStdout === undefined
      ? {}
      : {
          onStdout: (bytes: Uint8Array) => {
            onStdout(Buffer.from(bytes).toString('latin1'))
          },
        }
  const result = await networks.during(boundary, nextCall(), (input) =>
    cell.sandbox.run({
      boundary,
      form: cell.form,
      cwd: programs.folder,
      argv,
      ...networks.settingsFor(boundary),
      ...input,
      ...heard,
      ...(signal === undefined ? {} : { signal }),
    }),
  )
  return {
    result,
    stdout: Buffer.from(result.stdout).toString('latin1'),
    stderr: Buffer.from(result.stderr).toString('latin1'),
  }
}

/** While another call that may reach these is open; told is the secret of its proxy. */
export const besideCall = async (
  network: readonly string[],
  run: (secret: string) => Promise<GrantedCall>,
): Promise<GrantedCall> => {
  let beside: GrantedCall | undefined
  await networks.during(boundaryOf({ network }, programs.folder, programs.folder), nextCall(), async (input) => {
    beside = await run(input.network?.proxySecret ?? '')
    return beside.result
  })
  if (beside === undefined) throw new Error('it did not run')
  return beside
}

const SCRIPT_BEGINNING =
  'import asyncio, base64, errno, os, select, socket, ssl, struct, sys, threading, time, urllib.parse, urllib.request'

export const python = (...lines: readonly string[]): readonly string[] => [
  '/usr/bin/python3',
  '-c',
  [SCRIPT_BEGINNING, ...lines].join('\n'),
]
