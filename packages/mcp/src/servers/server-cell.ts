// Starts a server as `cordon run` starts a command: the same rules decide, and the same log has it. Its input stays
// open. Its base has the policy of the server, and each instance that of some of its tools too.
import { resolve } from 'node:path'

import type { Mode } from 'cordon/gate'
import { policyHash } from 'cordon/policy'
import type { PlacedPolicy, ToolPolicy } from 'cordon/policy'
import type { AuditLog, OwnFile } from 'cordon/runtime'
import { describeEnding } from 'cordon/sandbox'
import type { Sandbox } from 'cordon/sandbox'
import {
  combinePolicies,
  GRANTS,
  launchInCell,
  ownCaller,
  parseRun,
  performRunIn,
  prepareRun,
  visibleWord,
  wayOutOfGrants,
} from 'cordon/commands'
import type { Arguments, Environment, Launch, PreparedRun, RunOrder } from 'cordon/commands'

import { consentStore, createConsent } from '../consent/index.js'
import type { ServerSource } from '../gateway/index.js'
import type { ClientFeature } from '../wire/era-2025.js'
import { launchPublished, withBridge } from './bridge.js'
import type { LocatedServer } from './packaged-servers.js'
import type { ChosenServer } from './server-choice.js'
import { adviseOnServer, keepEnd, lastLines } from './start-failure.js'

export interface PreparedServer {
  readonly server: ChosenServer
  /** As somebody wrote it. `server` may start its installed package, or have a login. */
  readonly chosen: ChosenServer
  readonly base: PreparedCell
  /** Of an instance with these policies of tools. A remote server has no cell but its base. */
  readonly cellFor: (...policies: readonly PlacedPolicy[]) => PreparedCell
  /** `--timeout`, for each call of a tool, in milliseconds. */
  readonly timeout: number | undefined
  /** For calls of its tools. */
  readonly mode: Mode | undefined
}

export interface PreparedCell {
  readonly prepared: PreparedRun
  readonly policy: ToolPolicy
  /** The same without the installed package of the server, which a manifest does not know. */
  readonly reviewed: ToolPolicy
}

const RESTART = { restart: wayOutOfGrants('cordon mcp install') }

/** `policies`: of its settings. `withheldFiles`: files with secrets of others. */
export const prepareServer = async (
  { server, policies: ofPackage }: LocatedServer,
  chosen: ChosenServer,
  given: Arguments,
  environment: Environment,
  policies: readonly PlacedPolicy[],
  withheldFiles: readonly OwnFile[],
): Promise<PreparedServer> => {
  const { transport } = server
  const words = wordsFor(server, transport.kind === 'remote' ? withoutGrants(given) : given)
  const order = await parseRun(words, ownCaller(environment), 'kept')
  const { wall: timeout, ...limits } = order.policy.limits
  const policiesOf = ({ transport: by }: ChosenServer) => (by.kind === 'remote' ? [by.remote.policy] : policies)
  const typed = { ...order.policy, limits }
  const secrets = transport.kind === 'remote' ? transport.remote.secrets : order.secrets
  const { mode } = order
  const ownFiles = [...order.ownFiles, ...withheldFiles]
  const cellWith = (added: readonly PlacedPolicy[]): PreparedCell => {
    const policy = combinePolicies([...ofPackage, ...policiesOf(server), ...added], typed)
    const written = [...policiesOf(chosen), ...added]
    const runOrder = { ...order, policy, secrets, ownFiles, mode: undefined }
    return {
      policy,
      reviewed: combinePolicies(written, withValues(typed, written, environment)),
      prepared: prepareRun(runOrder, false, ownCaller(environment), RESTART),
    }
  }
  const base = cellWith([])
  const cells = new Map<string, PreparedCell>()
  const cellFor: PreparedServer['cellFor'] = (...added) => {
    if (transport.kind === 'remote') return base
    const placed = added.map(withoutWall)
    const key = placed.map(({ policy }) => policyHash(policy)).join(' ')
    const cell = cells.get(key) ?? cellWith(placed)
    cells.set(key, cell)
    return cell
  }
  return { server, chosen, base, cellFor, timeout, mode }
}

/** It holds for one call, and not for the life of an instance. */
const withoutWall = ({ policy, ...place }: PlacedPolicy): PlacedPolicy => {
  const { wall: _, ...limits } = policy.limits
  return { ...place, policy: { ...policy, limits } }
}

/**
 * `cordon mcp install` passes on the variables that a client's file sets, and a manifest knows their values. `written`
 * passes a variable whatever its value is.
 */
const withValues = (typed: ToolPolicy, written: readonly PlacedPolicy[], environment: Environment): ToolPolicy => {
  if (typed.environment.kind !== 'list') return typed
  const free = new Set(
    written.flatMap(({ policy }) =>
      policy.environment.kind === 'list' ? policy.environment.items.map(({ name }) => name) : [],
    ),
  )
  const items = typed.environment.items.flatMap((entry) => {
    const text = environment[entry.name]
    if (entry.value.kind === 'set' || free.has(entry.name)) return [entry]
    return text === undefined ? [] : [{ name: entry.name, value: { kind: 'set', text } as const }]
  })
  return { ...typed, environment: { kind: 'list', items } }
}

/** The cell of a remote server reaches that server, and nothing else. */
const withoutGrants = ({ values, ...given }: Arguments): Arguments => {
  const granting = new Set([...GRANTS.map(({ name }) => name), 'secret'])
  return { ...given, values: new Map([...values].filter(([name]) => !granting.has(name))) }
}

/** The words of `cordon run` for it. */
const wordsFor = ({ argv, variables, cwd }: ChosenServer, { values, switches }: Arguments): Arguments => {
  const set = Object.entries(variables).map(([name, text]) => `${name}=${text}`)
  return {
    switches,
    rest: argv,
    values: new Map([
      ...values,
      ['env', [...(values.get('env') ?? []), ...set]],
      ...(cwd === undefined || values.has('cwd') ? [] : [['cwd', [resolve(cwd)]] as const]),
    ]),
  }
}

export interface ServerPlace {
  readonly audit: AuditLog
  readonly sandbox: Promise<Sandbox>
  readonly environment: Environment
  /** What each server may ask its client for. */
  readonly allowedTo: (server: string) => ReadonlySet<ClientFeature>
  readonly consentFolder: string
  readonly onStderr: (server: string, bytes: Uint8Array) => void
}

export const serverSource = (prepared: PreparedServer, place: ServerPlace): Omit<ServerSource, 'isExposed'> => {
  const { server, base } = prepared
  const { cwd, workspace } = base.prepared.order
  return {
    name: server.name,
    cwd,
    speaks: server.transport.kind === 'stdio' ? 'stdio' : 'http',
    url: server.transport.kind === 'remote' ? visibleWord(server.transport.remote.url) : undefined,
    allowed: place.allowedTo(server.name),
    consent: createConsent(consentStore(place.consentFolder, { server: server.name, workspace })),
    ...processIn(prepared, base, place),
  }
}

/** The server in one of its cells. */
export const processIn = (
  { server }: Pick<PreparedServer, 'server'>,
  { prepared }: PreparedCell,
  place: ServerPlace,
): Pick<ServerSource, 'boundary' | 'run'> => ({
  boundary: prepared.tool.boundary,
  run: async (streams) => {
    const { environment, audit, sandbox, onStderr } = place
    const { order } = prepared
    const said = keepEnd()
    const launch = launchInCell(sandbox, environment, order, {
      ...streams,
      // A server that cannot start should say which file it lacked.
      observe: 'reads',
      onStderr: (bytes) => {
        said.add(bytes)
        onStderr(server.name, bytes)
      },
    })
    const launching = bridged(launch, server, order, place)
    const { result, boundary, ownFiles } = await performRunIn(audit, prepared, launching, () => undefined)
    // The last line may lack its end.
    onStderr(server.name, Buffer.from('\n'))
    return {
      how: describeEnding(result),
      lastWords: lastLines(said.text()),
      advice: () => adviseOnServer({ name: server.name, order, boundary, ownFiles, result, environment }),
    }
  },
})

const bridged = (launch: Launch, { transport, name }: ChosenServer, order: RunOrder, place: ServerPlace): Launch => {
  switch (transport.kind) {
    case 'stdio':
      return launch
    case 'remote':
      return (argv, boundary, call) => launch(argv, withBridge(boundary), call)
    case 'published': {
      const { environment, sandbox } = place
      const host = sandbox.then((open) => open.host)
      return launchPublished(launch, host, { name, url: transport.url, order, environment })
    }
  }
}
