// Serves the servers of a command line or of a file: chooses them, prepares their cells, and waits for clients.
import { join } from 'node:path'

import { createCordon } from 'cordon'
import type { Approve } from 'cordon'
import { parseAbsolutePath } from 'cordon/policy'
import { readManifestOption } from 'cordon/runtime'
import type { AuditLog, OwnFile } from 'cordon/runtime'
import { openSandbox } from 'cordon/sandbox'
import type { Sandbox } from 'cordon/sandbox'
import { withoutUndefined } from 'cordon/shapes'
import {
  STDERR,
  configFolderOf,
  consentFolderOf,
  homeOf,
  openRunLog,
  recordSettingsOf,
  reportFailure,
  reportLines,
  version,
  visible,
  withheld,
  writeText,
} from 'cordon/commands'
import type { Arguments, Environment } from 'cordon/commands'

import { openGateway, sharedName } from '../gateway/index.js'
import type { GatewayParts } from '../gateway/index.js'
import type { Listening, OpenConnection } from '../http/index.js'
import type { ClientFeature } from '../wire/era-2025.js'
import { holdServer, manifestFilesOf } from './hold-servers.js'
import { openClient, passStderr, untilSignal } from './own-streams.js'
import { locateServers } from './packaged-servers.js'
import { withLogin } from './remote-server.js'
import { prepareServer, processIn, serverSource } from './server-cell.js'
import type { PreparedServer } from './server-cell.js'
import { chooseServers } from './server-choice.js'
import type { ChosenServer } from './server-choice.js'
import { readServerSettings } from './server-settings.js'
import type { AllServerSettings } from './server-settings.js'
import { hiddenPathsOf, ignoredSettings, unusedSettings } from './start-warnings.js'
import { ticketsIn } from './ticket-key.js'
import { entryNamed, policiesWithin, readToolFile } from './tool-policies.js'
import { policiesOf } from './tool-rights.js'

interface Serving {
  /** What all servers may ask their client for. */
  readonly allowed: readonly ClientFeature[]
  /** The user of the client may approve calls. */
  readonly isClientAsked: boolean
  /** Undefined: the client is on stdin and stdout. */
  readonly listening: Listening | undefined
}

/** Settles when the client has gone, or at a signal. False if no server could be located. */
export const serveServers = async (
  given: Arguments,
  environment: Environment,
  { allowed, isClientAsked, listening }: Serving,
): Promise<boolean> => {
  const home = homeOf(environment)
  const configFolder = configFolderOf(environment, home)
  const workspace = parseAbsolutePath(process.cwd(), 'the working directory')
  const tools = readToolFile(given.values.get('tools')?.[0])
  const ruleFiles = given.values.get('rules') ?? []
  const settings = readServerSettings({ workspace, home, configFolder, folder: workspace, ruleFiles })
  warn(ignoredSettings(settings, configFolder))
  const named = chooseServers(given).map((server) => publishedBy(server, settings))
  const chosen = await Promise.all(named.map((server) => loggedIn(server, environment)))
  const startOf = (server: string): string => (chosen.length > 1 ? sharedName(server, '') : '')
  const starts = chosen.map(({ name }) => ({ name, start: startOf(name) }))
  warn(unusedSettings(starts, settings, tools))
  const allowedTo = (server: string) => new Set([...allowed, ...settings.of(server).allowed])
  const manifestFile = given.values.get('manifest')?.[0]
  const manifest = readManifestOption(manifestFile)
  const withheldFiles = [...filesWithHeaders(chosen, given), ...manifestFilesOf(manifest)]
  const audit = await openRunLog(environment, home)
  let sandbox: Promise<Sandbox> | undefined
  try {
    const located = await locateServers(chosen, given, environment, audit)
    const prepared = await Promise.all(
      located.map((each) => {
        const { name } = each.server
        const written = named.find((server) => server.name === name) ?? each.server
        return prepareServer(each, written, given, environment, settings.of(name).policies, withheldFiles)
      }),
    )
    const written = (server: string) => [
      ...policiesWithin(startOf(server), tools),
      ...policiesWithin('', settings.of(server).tools),
    ]
    const servers =
      manifest === undefined
        ? prepared
        : prepared.map((each) => {
            const { name } = each.server
            return holdServer(each, manifest, { allowed: allowedTo(name), written: written(name), configFolder })
          })
    warn(servers.flatMap((each) => hiddenPathsOf(each, written(each.server.name), environment)))
    const [first] = servers
    if (first === undefined) return false
    const { backend, form } = first.base.prepared.order
    sandbox = openSandbox({ backend, form, nursery: 'none' })
    sandbox.catch(() => undefined)
    const consentFolder = consentFolderOf(environment, home)
    const place = { audit, sandbox, environment, allowedTo, consentFolder, onStderr: passStderr() }
    const policyOf = policiesOf(servers, {
      environment,
      processIn: (server, cell) => processIn(server, cell, place),
      find: (name, server) => {
        const ownName = name.slice(startOf(server).length)
        const ofServer = settings.of(server)
        return {
          ownName,
          said: entryNamed(name, tools) ?? entryNamed(ownName, ofServer.tools),
          isFresh: ofServer.fresh.some((pattern) => pattern.matches(ownName)),
          hasOtherPolicies: written(server).length > 0,
        }
      },
    })
    const sources = () =>
      servers.map((each) => {
        const { exposed } = settings.of(each.server.name)
        const isExposed = (tool: string) => exposed.length === 0 || exposed.some((pattern) => pattern.matches(tool))
        return { ...serverSource(each, place), isExposed }
      })
    const open = connecting({ first, sources, policyOf, audit, environment, isClientAsked, manifestFile })
    await (listening === undefined ? serveOnPipes(open) : serveOverHttp(open, listening))
    return true
  } finally {
    await sandbox?.then(
      (open) => open.close(),
      () => undefined,
    )
    await audit.close()
  }
}

const warn = (lines: readonly string[]): void => {
  for (const line of lines) writeText(STDERR, `cordon: ${line}\n`)
}

/** A token that the user wrote counts before a login. */
const loggedIn = async (server: ChosenServer, environment: Environment): Promise<ChosenServer> => {
  const { name, transport } = server
  if (transport.kind !== 'remote' || transport.remote.isAuthorized) return server
  const { hasLogin } = await import('../login/logins.js')
  return hasLogin(transport.remote.url, environment)
    ? { ...server, transport: { ...transport, remote: withLogin(name, transport.remote) } }
    : server
}

/** The command line counts before the settings. */
const publishedBy = (server: ChosenServer, settings: AllServerSettings): ChosenServer => {
  const [url] = settings.of(server.name).published
  return url === undefined || server.transport.kind !== 'stdio'
    ? server
    : { ...server, transport: { kind: 'published', url } }
}

/** The headers of a remote server are secrets, which no server of the same file may read. */
const filesWithHeaders = (chosen: readonly ChosenServer[], { values }: Arguments): readonly OwnFile[] => {
  const hasHeaders = chosen.some(({ transport }) => transport.kind === 'remote' && transport.remote.secrets.size > 0)
  return hasHeaders ? (values.get('config') ?? []).map((path) => withheld(path, 'the headers of remote servers')) : []
}

interface Connecting {
  /** The rules, the mode and the folders are the same for all servers. */
  readonly first: PreparedServer
  /** Servers that were not started yet. */
  readonly sources: () => GatewayParts['servers']
  readonly policyOf: GatewayParts['policyOf']
  readonly audit: AuditLog
  readonly environment: Environment
  readonly isClientAsked: boolean
  readonly manifestFile: string | undefined
}

/** Opens the gateway of one client, with servers of its own. */
const connecting =
  ({ first, sources, policyOf, audit, environment, isClientAsked, manifestFile }: Connecting): OpenConnection =>
  async (send) => {
    const { order, ruleSets } = first.base.prepared
    const { workspace, home } = order
    /** Set before the first call, which comes from the client. */
    let asked: Approve = () => ({ kind: 'timed_out', then: 'deny' })
    const cordon = await createCordon({
      ...(isClientAsked
        ? {
            approve: (...question: Parameters<Approve>) => asked(...question),
            tickets: ticketsIn(join(consentFolderOf(environment, home), 'tickets')),
          }
        : {}),
      tools: [],
      workspace,
      home,
      audit,
      ruleFiles: 'none',
      rules: ruleSets,
      mode: first.mode ?? 'on_request',
      configFolder: configFolderOf(environment, home),
      record: recordSettingsOf(environment),
      requestedBy: 'mcp-client',
      ...withoutUndefined({ manifest: manifestFile }),
    })
    const gateway = openGateway({
      servers: sources(),
      cordon,
      isClientAsked,
      policyOf,
      version: version(),
      send,
      onTrouble: (error) => {
        reportFailure(error, environment)
      },
      onRefused: (tool, { code, message, fix }) => {
        reportLines(`${code}: refused the call of ${visible(tool)}: ${message}`, fix ?? undefined, environment)
      },
    })
    asked = gateway.approve
    return {
      take: gateway.take,
      close: async () => {
        await gateway.close()
        await cordon.close()
      },
    }
  }

const serveOnPipes = async (open: OpenConnection): Promise<void> => {
  const client = openClient()
  const connection = await open(client.send)
  try {
    await client.read(connection.take)
  } finally {
    await connection.close()
    await client.end()
  }
}

const serveOverHttp = async (open: OpenConnection, listening: Listening): Promise<void> => {
  const { openEndpoint } = await import('../http/index.js')
  const endpoint = await openEndpoint(listening, open)
  try {
    warn([`MCP clients connect to ${endpoint.url}`])
    await untilSignal()
  } finally {
    await endpoint.close()
  }
}
