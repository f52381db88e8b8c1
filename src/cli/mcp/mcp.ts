// `cordon mcp`: a gateway between one MCP client and its servers.
import { dirname } from 'node:path'

import { fail } from '../../errors/index.js'
import { CLIENT_FEATURE_NAMES, createLineReader, openGateway, sharedName } from '../../mcp/index.js'
import type { ClientFeature, GatewayParts } from '../../mcp/index.js'
import { parseAbsolutePath } from '../../policy/index.js'
import type { ToolPolicy } from '../../policy/index.js'
import { createCordon } from '../../runtime/index.js'
import type { Approve } from '../../runtime/index.js'
import type { AuditLog } from '../../runtime/audit/index.js'
import { openSandbox } from '../../sandbox/index.js'
import type { Sandbox } from '../../sandbox/index.js'

import { usage } from '../arguments.js'
import type { Arguments } from '../arguments.js'
import type { CommandLine, Environment } from '../command-line.js'
import { EXIT_REFUSED, reportFailure } from '../failure.js'
import { openOutput } from '../run/output-sink.js'
import { openRunLog, recordSettingsOf } from '../run/perform-run.js'
import { configFolderOf, consentFolderOf, homeOf } from '../settings/own-folders.js'
import { STDERR, writeText } from '../text/console-text.js'
import { visible } from '../text/visible-text.js'
import { version } from '../text/version.js'
import { openClient } from './client-input.js'
import { locateServers } from './packaged-servers.js'
import { chooseServers } from './server-choice.js'
import { prepareServer, serverSource } from './start-server.js'
import type { PreparedServer } from './start-server.js'
import { readServerSettings } from './server-settings.js'
import type { AllServerSettings } from './server-settings.js'
import { policiesWithin, policyNamed, readToolFile } from './tool-policies.js'
import type { ToolEntry } from './tool-policies.js'

export const mcp = async ({ given, environment }: CommandLine): Promise<number> => {
  const chosen = chooseServers(given)
  const tools = readToolFile(given.values.get('tools')?.[0])
  const settings = settingsHere(given, environment)
  const allowed = (given.values.get('allow') ?? []).map(featureNamed)
  const startOf = (server: string): string => (chosen.length > 1 ? sharedName(server, '') : '')
  const home = homeOf(environment)
  const audit = await openRunLog(environment, home)
  let sandbox: Promise<Sandbox> | undefined
  try {
    const located = await locateServers(chosen, given, environment, audit)
    const servers = await Promise.all(
      located.map(({ server, policies }) =>
        prepareServer(server, given, environment, [
          ...policies,
          ...policiesWithin(startOf(server.name), tools),
          ...settings.of(server.name).policies,
        ]),
      ),
    )
    const [first] = servers
    if (first === undefined) return EXIT_REFUSED
    sandbox = openSandbox({ form: first.prepared.order.form, nursery: 'none' })
    sandbox.catch(() => undefined)
    const onStderr = passStderr(chosen.length > 1)
    const consentFolder = consentFolderOf(environment, home)
    const allowedTo = (server: string) => new Set([...allowed, ...settings.of(server).allowed])
    const place = { audit, sandbox, environment, allowedTo, consentFolder, onStderr }
    await serve(
      first,
      servers.map((each) => serverSource(each, place)),
      policiesOf(servers, (name, server) => [
        policyNamed(name, tools),
        policyNamed(name.slice(startOf(server).length), settings.of(server).tools),
      ]),
      audit,
      environment,
      isClientAskedBy(given),
    )
  } finally {
    await sandbox?.then(
      (open) => open.close(),
      () => undefined,
    )
    await audit.close()
  }
  return 0
}

/** The rules, the mode and the folders are the same for all servers. */
const serve = async (
  { prepared: { order, ruleSets }, mode }: PreparedServer,
  servers: GatewayParts['servers'],
  policyOf: GatewayParts['policyOf'],
  audit: AuditLog,
  environment: Environment,
  isClientAsked: boolean,
): Promise<void> => {
  const { workspace, home } = order
  /** Set before the first call, which comes from the client. */
  let asked: Approve = () => ({ kind: 'timed_out', then: 'deny' })
  const cordon = await createCordon({
    ...(isClientAsked ? { approve: (...question: Parameters<Approve>) => asked(...question) } : {}),
    ...{ tools: [], workspace, home, audit, ruleFiles: 'none', rules: ruleSets },
    mode: mode ?? 'on_request',
    configFolder: configFolderOf(environment, home),
    record: recordSettingsOf(environment),
    requestedBy: 'mcp-client',
  })
  const client = openClient()
  const gateway = openGateway({
    ...{ servers, cordon, policyOf, version: version(), send: client.send },
    onTrouble: (error) => {
      reportFailure(error, environment)
    },
  })
  asked = gateway.approve
  try {
    await client.read(gateway.take)
  } finally {
    await gateway.close()
    await cordon.close()
    await client.end()
  }
}

/** `found`: the policies for the name that clients use, the most important first. */
const policiesOf =
  (
    servers: readonly PreparedServer[],
    found: (name: string, server: string) => readonly (ToolEntry['policy'] | undefined)[],
  ): GatewayParts['policyOf'] =>
  (name, link) => {
    const owner = servers.find(({ server }) => server.name === link.name)
    const first = found(name, link.name).find((policy) => policy !== undefined)
    const policy = first === 'server' ? owner?.policy : first
    return policy === undefined ? undefined : withTimeout(policy, owner?.timeout)
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

const withTimeout = (policy: ToolPolicy, timeout: number | undefined): ToolPolicy =>
  timeout === undefined ? policy : { ...policy, limits: { wall: timeout, ...policy.limits } }

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

/** What servers write to stderr. It is dropped while nobody reads it, so that no server waits for that. */
const passStderr = (isShared: boolean): ((server: string, bytes: Uint8Array) => void) => {
  const output = openOutput(STDERR, () => undefined)
  let isFull = false
  const write = (bytes: Uint8Array): void => {
    if (isFull) return
    const slow = output.write(bytes)
    isFull = slow !== undefined
    void slow?.then(() => {
      isFull = false
    })
  }
  const readers = new Map<string, (bytes: Uint8Array) => void>()
  const readerOf = (server: string): ((bytes: Uint8Array) => void) => {
    const onLine = (line: string): void => {
      write(Buffer.from(`[${server}] ${line}\n`))
    }
    const found = readers.get(server) ?? createLineReader({ onLine, onTooLong: () => undefined })
    readers.set(server, found)
    return found
  }
  return (server, bytes) => {
    if (isShared) readerOf(server)(bytes)
    else write(bytes)
  }
}
