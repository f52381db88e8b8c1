// An egress with one call, and the ways for a tool to reach it.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { createEgress, createSecretStore } from '../../src/egress/index.js'
import type {
  CallRights,
  Egress,
  EgressCall,
  EgressEvent,
  EgressSettings,
  Resolve,
  ViolationSeen,
} from '../../src/egress/index.js'
import type { Credential, Injection } from '../../src/policy/index.js'
import { parseDestination, parseIpAddress, parsePolicy, resolvePolicy } from '../../src/policy/index.js'
import type { AbsolutePath } from '../../src/policy/index.js'

import { serverAuthority } from './servers.js'

export interface StageOptions {
  readonly network: unknown
  readonly egressClass?: string
  readonly writeApproval?: 'recorded' | 'none'
  readonly credentials?: readonly Credential[]
  readonly secrets?: Readonly<Record<string, string>>
  /** Names that lead to this machine. */
  readonly here?: readonly string[]
  readonly resolve?: Resolve
  readonly limits?: Pick<EgressSettings, 'connections' | 'exchanges'>
}

export interface Stage {
  readonly egress: Egress
  readonly call: EgressCall
  readonly events: readonly EgressEvent[]
  readonly violations: () => readonly ViolationSeen['violation'][]
  /** A proxy for programs that are told of one, with the secret of the call. */
  readonly proxyUrl: string
  readonly proxyPort: number
  /** The file with the certificate that the cell would trust. */
  readonly authorityFile: string
  readonly folder: string
  /** A port on which everything is meant for `host:port`, as the broker would say. */
  readonly portTo: (host: string, port: number) => Promise<number>
  readonly listen: (serve: (socket: Socket) => void) => Promise<number>
  readonly close: () => Promise<void>
}

export const credential = (
  id: string,
  host: string,
  inject: Injection,
  placeholder?: Credential['placeholder'],
): Credential => ({
  id,
  hosts: [parseDestination(host, 'test')],
  inject,
  placeholder,
  scope: { network: { kind: 'all' }, egressClass: { level: 'write', derived: true } },
})

export const bearer = (id: string, host: string): Credential =>
  credential(id, host, { kind: 'header', name: 'Authorization', format: 'Bearer {value}' })

export const rightsOf = ({
  network,
  egressClass,
  writeApproval = 'recorded',
  credentials = [],
  here = [],
}: StageOptions): CallRights => {
  const policy = parsePolicy({ network, ...(egressClass === undefined ? {} : { egress_class: egressClass }) }, 'test')
  const boundary = resolvePolicy(policy, {
    workspace: '/w' as AbsolutePath,
    home: '/h' as AbsolutePath,
    kind: 'process',
  })
  const loopback = parseIpAddress('127.0.0.1')
  if (loopback === undefined) throw new Error('no address')
  return {
    callId: 'call-1',
    network: boundary,
    writeApproval,
    credentials,
    pins: new Map(here.map((name) => [name, [loopback]])),
  }
}

export const openStage = async (options: StageOptions): Promise<Stage> => {
  const events: EgressEvent[] = []
  const secrets = createSecretStore({
    sources: new Map(Object.keys(options.secrets ?? {}).map((id) => [id, { kind: 'environment', name: id }])),
    host: {
      environment: options.secrets ?? {},
      run: () => Promise.resolve({ kind: 'failed', problem: 'no processes here' }),
      platform: 'linux',
      vault: undefined,
    },
  })
  const egress = createEgress({
    secrets,
    record: (event) => {
      events.push(event)
    },
    authorities: [serverAuthority.certificate],
    ...(options.resolve === undefined ? {} : { resolve: options.resolve }),
    ...options.limits,
  })
  const call = await egress.admit(rightsOf(options))
  const sockets = new Set<Socket>()
  const servers: ReturnType<typeof createServer>[] = []
  const listen = async (serve: (socket: Socket) => void): Promise<number> => {
    const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
      sockets.add(socket)
      serve(socket)
    })
    servers.push(server)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', 2048, resolve))
    return (server.address() as AddressInfo).port
  }
  const proxyPort = await listen((socket) => {
    call.acceptProxyClient(socket)
  })
  const folder = mkdtempSync(join(tmpdir(), 'cordon-egress-'))
  const authorityFile = join(folder, 'authority.pem')
  writeFileSync(authorityFile, egress.authorityCertificate)
  return {
    egress,
    call,
    events,
    violations: () => events.flatMap((event) => (event.type === 'sandbox.violation' ? [event.violation] : [])),
    proxyUrl: `http://cordon:${call.proxySecret}@127.0.0.1:${proxyPort}`,
    proxyPort,
    authorityFile,
    folder,
    portTo: (host, port) =>
      listen((socket) => {
        call.accept(socket, host, port)
      }),
    listen,
    close: async () => {
      egress.close()
      for (const socket of sockets) socket.destroy()
      await Promise.all(
        servers.map(
          (server) =>
            new Promise<void>((resolve) =>
              server.close(() => {
                resolve()
              }),
            ),
        ),
      )
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
