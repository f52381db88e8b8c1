// `cordon mcp`: a gateway between one MCP client and its servers.
import { dirname, join } from 'node:path'

import { parseAbsolutePath } from 'cordon/policy'
import { createCordon } from 'cordon'
import type { Approve } from 'cordon'
import { readManifestOption } from 'cordon/runtime'
import type { AuditLog, OwnFile } from 'cordon/runtime'
import { withoutUndefined } from 'cordon/shapes'
import { openSandbox } from 'cordon/sandbox'
import type { Sandbox } from 'cordon/sandbox'
import {
  configFolderOf,
  consentFolderOf,
  EXIT_REFUSED,
  homeOf,
  openRunLog,
  recordSettingsOf,
  reportFailure,
  reportLines,
  STDERR,
  usage,
  version,
  visible,
  withheld,
  writeText,
} from 'cordon/commands'
import type { Arguments, CommandLine, Environment } from 'cordon/commands'

import { fail } from '../errors/errors.js'
import { openGateway, sharedName } from '../gateway/index.js'
import type { GatewayParts } from '../gateway/index.js'
import { CLIENT_FEATURE_NAMES } from '../wire/era-2025.js'
import type { ClientFeature } from '../wire/era-2025.js'
import type { OpenConnection } from '../http/index.js'
import { openClient, passStderr, untilSignal } from '../servers/own-streams.js'
import { hiddenPathsOf, unusedSettings } from '../servers/start-warnings.js'
import { holdServer, manifestFilesOf } from '../servers/hold-servers.js'
import { listeningBy } from '../servers/listening.js'
import type { Listening } from '../servers/listening.js'
import { locateServers } from '../servers/packaged-servers.js'
import { withLogin } from '../servers/remote-server.js'
import { chooseServers } from '../servers/server-choice.js'
import type { ChosenServer } from '../servers/server-choice.js'
import { prepareServer, serverSource } from '../servers/start-server.js'
import type { PreparedServer } from '../servers/start-server.js'
import { readServerSettings } from '../servers/server-settings.js'
import type { AllServerSettings } from '../servers/server-settings.js'
import { ticketsIn } from '../servers/ticket-key.js'
import { policiesWithin, policyNamed, readToolFile } from '../servers/tool-policies.js'
import { policiesOf } from '../servers/tool-rights.js'

export const mcp = async ({ given, environment }: CommandLine): Promise<number> => {
  const tools = readToolFile(given.values.get('tools')?.[0])
  const settings = settingsHere(given, environment)
  const named = chooseServers(given).map((server) => publishedBy(server, settings))
  const chosen = await Promise.all(named.map((server) => loggedIn(server, environment)))
  const allowed = (given.values.get('allow') ?? []).map(featureNamed)
  const startOf = (server: string): string => (chosen.length > 1 ? sharedName(server, '') : '')
  for (const line of unusedSettings(
    chosen.map(({ name }) => ({ name, start: startOf(name) })),
    settings,
    tools,
  ))
    writeText(STDERR, `cordon: ${line}\n`)
  const allowedTo = (server: string) => new Set([...allowed, ...settings.of(server).allowed])
  const home = homeOf(environment)
  const manifestFile = given.values.get('manifest')?.[0]
  const manifest = readManifestOption(manifestFile)
  const heldTo = (each: PreparedServer): PreparedServer =>
    manifest === undefined
      ? each
      : holdServer(each, manifest, {
          allowed: allowedTo(each.server.name),
          configFolder: configFolderOf(environment, home),
        })
  const audit = await openRunLog(environment, home)
  let sandbox: Promise<Sandbox> | undefined
  try {
    const located = await locateServers(chosen, given, environment, audit)
    const prepared = await Promise.all(
      located.map((each) =>
        prepareServer(
          each,
          named.find(({ name }) => name === each.server.name) ?? each.server,
          given,
          environment,
          [...policiesWithin(startOf(each.server.name), tools), ...settings.of(each.server.name).policies],
          [...filesWithHeaders(chosen, given), ...manifestFilesOf(manifest)],
        ),
      ),
    )
    const servers = prepared.map(heldTo)
    for (const line of servers.flatMap((each) => hiddenPathsOf(each, environment)))
      writeText(STDERR, `cordon: ${line}\n`)
    const [first] = servers
    if (first === undefined) return EXIT_REFUSED
    const { backend, form } = first.prepared.order
    sandbox = openSandbox({ backend, form, nursery: 'none' })
    sandbox.catch(() => undefined)
    const onStderr = passStderr()
    const consentFolder = consentFolderOf(environment, home)
    const place = { audit, sandbox, environment, allowedTo, consentFolder, onStderr }
    const policyOf = policiesOf(servers, environment, (name, server) => {
      const ownName = name.slice(startOf(server).length)
      const ofServer = settings.of(server)
      return {
        ownName,
        said: policyNamed(name, tools) ?? policyNamed(ownName, ofServer.tools),
        all: [...policiesWithin(startOf(server), tools), ...policiesWithin('', ofServer.tools)],
      }
    })
    const open = connecting({
      first,
      sources: () => servers.map((each) => serverSource(each, place)),
      policyOf,
      audit,
      environment,
      manifestFile,
      isClientAsked: isClientAskedBy(given),
    })
    await serve(open, listeningBy(given))
  } finally {
    await sandbox?.then(
      (open) => open.close(),
      () => undefined,
    )
    await audit.close()
  }
  return 0
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
    const { order, ruleSets } = first.prepared
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

const serve = async (open: OpenConnection, listening: Listening | undefined): Promise<void> => {
  if (listening === undefined) {
    const client = openClient()
    const connection = await open(client.send)
    try {
      await client.read(connection.take)
    } finally {
      await connection.close()
      await client.end()
    }
    return
  }
  const { openEndpoint } = await import('../http/index.js')
  const endpoint = await openEndpoint({ ...listening, open })
  try {
    writeText(STDERR, `cordon: MCP clients connect to ${endpoint.url}\n`)
    await untilSignal()
  } finally {
    await endpoint.close()
  }
}

/** A project that nobody trusts grants nothing, and says so. */
const settingsHere = ({ values }: Arguments, environment: Environment): AllServerSettings => {
  const home = homeOf(environment)
  const configFolder = configFolderOf(environment, home)
  const settings = readServerSettings({
    workspace: parseAbsolutePath(process.cwd(), 'the working directory'),
    home,
    configFolder,
    ruleFiles: values.get('rules') ?? [],
  })
  for (const path of settings.ignored)
    writeText(
      STDERR,
      `cordon: ${visible(path)} does not count, because its project is not trusted; to trust it, add to ` +
        `${visible(configFolder)}/rules.yaml: trusted_projects: [${visible(dirname(dirname(path)))}]\n`,
    )
  return settings
}

/** `--ask client`: who sits at the client may approve calls. */
const isClientAskedBy = ({ values }: Arguments): boolean => {
  const word = values.get('ask')?.[0]
  if (word !== undefined && word !== 'client') throw usage(`--ask does not know ${JSON.stringify(word)}`, 'cordon mcp')
  return word === 'client'
}

const featureNamed = (word: string): ClientFeature => {
  const found = CLIENT_FEATURE_NAMES.find((name) => name === word)
  if (found !== undefined) return found
  throw fail('usage-error', {
    problem: `--allow does not know ${JSON.stringify(word)}`,
    fix: `one of: ${CLIENT_FEATURE_NAMES.join(', ')}`,
  })
}
