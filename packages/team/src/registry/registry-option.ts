// Checks the settings of a registry, as createCordon checks its options.
import { list, oneOf, such } from 'cordon/shapes'
import { aCount, aText, mapping, optionPlace, unshown } from 'cordon/runtime'

import type { OwnDatabase, RegistrySettings, ServedRegistry } from './registry-access.js'

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

/** Throws the error of an option. */
export const checkRegistrySettings = (settings: RegistrySettings): void => {
  const place = optionPlace('teamRegistry')
  if (typeof settings === 'object' && 'server' in settings) servedRegistry.read(settings, place)
  else ownDatabase.read(settings, place)
}
