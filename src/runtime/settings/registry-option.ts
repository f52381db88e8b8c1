// Checks the option `registry` of createCordon and of a call.
import { isAmount, list, oneOf, such } from '../../shapes/index.js'
import type { Shape } from '../../shapes/index.js'

import { aCount, aText, checked, mapping, unshown } from '../option-checks.js'
import type { AskedWith } from '../registry/asked-with.js'
import type { OwnDatabase, ServedRegistry } from '../registry/registry-access.js'

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
      fix: 'open one with openPostgres({ url }) or openPglite({ folder }) of cordon/store',
    }),
    speaks: oneOf('login', 'gateway'),
    ...REGISTRY_NAMES,
  },
  'registry: { engine, owner: "team", agent: "agent-1", runner: "host-1", speaks: "login" }',
  { required: ['engine', 'owner', 'agent', 'runner', 'speaks'] },
)

const servedRegistry = mapping<ServedRegistry>(
  {
    server: aText(
      'the address of cordon serve',
      'write it like server: "https://cordon.example.org:7070" or "unix:/path/of/socket"',
    ),
    token: unshown(aText('a token'), 'a token', 'cordon tokens create makes one'),
    authorities: list(aText('certificates in PEM'), {
      expected: 'a list of certificates in PEM',
      fix: 'write it like authorities: [readFileSync("ca.pem", "utf8")]',
    }),
    ...REGISTRY_NAMES,
  },
  'registry: { server: "unix:/path/of/socket", owner: "team", agent: "agent-1", runner: "host-1" }',
  { required: ['server', 'owner', 'agent', 'runner'] },
)

export const registryOption: Shape<OwnDatabase | ServedRegistry> = checked((value, place) => {
  const isServed = typeof value === 'object' && value !== null && 'server' in value
  ;(isServed ? servedRegistry : ownDatabase).read(value, place)
})

export const askedWithOption = mapping<AskedWith>(
  {
    run: aText('the id of a run'),
    step: aText('the name of a step'),
    costEstimate: such('a number from 0', isAmount),
    validMs: such('a number of milliseconds', (value) => isAmount(value) && value > 0),
  },
  'registry: { run: "0190…", costEstimate: 0.02 }',
)
