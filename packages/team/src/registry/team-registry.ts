// The registry of a team as the option `registry` of createCordon.
import { existsSync } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'
import { aCount, aText, mapping, optionPlace, unshown } from 'cordon/runtime'
import type { RegistrySource, OwnFile } from 'cordon/runtime'
import { list, oneOf, such } from 'cordon/shapes'

import { sameTool } from '../tools/same-tool.js'
import { openCallRegistry } from './call-registry.js'
import type { RegistrySettings, OwnDatabase, ServedRegistry } from './registry-access.js'

/** Decides about the calls of a runtime, if needed by asking people, and keeps their results. */
export const teamRegistry = (settings: RegistrySettings): RegistrySource => {
  checkRegistrySettings(settings)
  const { execution = 'here' } = settings
  return {
    execution,
    ownFiles: registryOwnFiles(settings),
    open: async ({ definitionOf, mechanisms, workspace = process.cwd(), ...home }) =>
      openCallRegistry(
        settings,
        sameTool(definitionOf, { workspace, ...home }),
        execution === 'runners' ? [] : await mechanisms(),
      ),
  }
}

const milliseconds = aCount('milliseconds')

const REGISTRY_NAMES = {
  owner: aText('the name of a team'),
  agent: aText('the name of who calls'),
  runner: aText('the name by which this process takes its calls'),
  labels: list(aText('a label'), { expected: 'a list of labels', fix: 'write it like labels: ["gpu"]' }),
  heartbeatMs: milliseconds,
  silentMs: milliseconds,
  execution: oneOf('here', 'runners'),
}

const ownDatabase = mapping<OwnDatabase>(
  {
    engine: such('a database', (value) => typeof value === 'object' && value !== null && 'transaction' in value, {
      fix: 'open one with openPostgres({ url }) or openPglite({ folder }) of @cordon/team',
    }),
    speaks: oneOf('login', 'gateway'),
    ...REGISTRY_NAMES,
  },
  'teamRegistry({ engine, owner: "team", agent: "agent-1", runner: "host-1", speaks: "login" })',
  { required: ['engine', 'owner', 'agent', 'runner', 'speaks'] },
)

const servedRegistry = mapping<ServedRegistry>(
  {
    server: aText(
      'the address of cordon serve',
      'write it like server: "https://cordon.example.org:7070" or "unix:/path/of/socket"',
    ),
    token: unshown(aText('a token'), 'a token', 'cordon team tokens create makes one'),
    authorities: list(aText('certificates in PEM'), {
      expected: 'a list of certificates in PEM',
      fix: 'write it like authorities: [readFileSync("ca.pem", "utf8")]',
    }),
    ...REGISTRY_NAMES,
  },
  'teamRegistry({ server: "unix:/path/of/socket", owner: "team", agent: "agent-1", runner: "host-1" })',
  { required: ['server', 'owner', 'agent', 'runner'] },
)

/** As createCordon checks its options: throws the error of an option. */
const checkRegistrySettings = (settings: RegistrySettings): void => {
  const place = optionPlace('teamRegistry')
  if (typeof settings === 'object' && 'server' in settings) servedRegistry.read(settings, place)
  else ownDatabase.read(settings, place)
}

/** The store on this host. Access to its socket or folder would let a tool act as anybody and approve calls. */
const registryOwnFiles = (settings: RegistrySettings): readonly OwnFile[] =>
  placesOf(settings).map((path) => ({
    path,
    access: 'withheld',
    what: 'the store in which calls are approved',
    fix: 'grant something else, or move the store',
  }))

const UNIX = 'unix:'

const placesOf = (settings: RegistrySettings): readonly string[] => {
  if ('engine' in settings) return isAbsolute(settings.engine.where) ? [settings.engine.where] : []
  if (!settings.server.startsWith(UNIX)) return []
  const socket = settings.server.slice(UNIX.length)
  const folder = dirname(socket)
  // The embedded store lies beside the socket of `cordon serve`.
  return [existsSync(join(folder, 'data', 'PG_VERSION')) ? folder : socket]
}
