import { HOOK_POINTS, MODES, RULE_SOURCES } from '../../gate/index.js'
import type { SessionBudget } from '../../gate/index.js'
import { FORMS } from '../../sandbox/index.js'
import type { SandboxOptions } from '../../sandbox/index.js'

import { DURABILITIES } from '../audit/audit-log.js'
import type { AuditSettings } from '../audit/audit-log.js'
import type { CallOptions, CordonOptions, HostHook, OwnFilesOption } from '../cordon-options.js'
import { EVENT_TYPES } from '../events/event-types.js'
import type { EventContext } from '../events/event.js'
import type { RecordSettings } from '../events/recorded-arguments.js'
import type { AskedWith } from '../registry/asked-with.js'
import type { OwnDatabase, ServedRegistry } from '../registry/registry-access.js'
import { aCount, aFunction, aText, checked, mappingWith, optionPlace, unshown } from '../option-checks.js'
import type { ShapesOf } from '../option-checks.js'
import { ruleOption } from './rule-sets.js'
import type { StateSettings } from './session-state.js'
import { problemOfCertificates } from '../../egress/index.js'
import type { VaultAccess } from '../../egress/index.js'
import { isMapping, list, oneOf, such } from '../../shapes/index.js'
import type { Shape } from '../../shapes/index.js'
import type { EgressOptions } from '../network/egress-options.js'

const isAbsolute = (value: unknown): boolean => typeof value === 'string' && value.startsWith('/')
const ABSOLUTE = 'make it absolute, for example with resolve() of node:path'
const aFolder = such<string>('the absolute path of a folder', isAbsolute, { fix: ABSOLUTE })
const milliseconds = aCount('milliseconds')

const KNOWN_POINTS = `points: ${HOOK_POINTS.join(', ')}`
const HOOK: ShapesOf<HostHook> = {
  name: aText('a name, by which the record tells of it'),
  points: checked((value, place) => {
    const points = list(oneOf(...HOOK_POINTS), {
      expected: 'a list of points at which it is asked',
      fix: KNOWN_POINTS,
    }).read(value, place)
    if (points.length === 0)
      throw place.wrong(value, 'a list with at least one point; without one it is never asked', KNOWN_POINTS)
  }),
  source: oneOf(...RULE_SOURCES),
  timeout: milliseconds,
  run: aFunction(
    'a function of the event',
    'write it like run: ({ input }) => ({ decision: "deny", reason: "…" }), or answer nothing',
  ),
}
const HOOK_SHAPE = 'write it like hooks: [{ name: "no-secrets", points: ["pre_tool_use"], run: (event) => … }]'

const AUDIT: ShapesOf<AuditSettings> = {
  path: aText('the path of a JSONL file'),
  anchorPath: aText('the path of a file'),
  durability: oneOf(...DURABILITIES),
  syncAfter: milliseconds,
  maxFileBytes: aCount('bytes'),
  lockTimeout: milliseconds,
  now: aFunction('a function that gives milliseconds since 1970'),
  newId: aFunction('a function that gives a new id'),
}

const RECORD: ShapesOf<RecordSettings> = {
  arguments: oneOf('hash', 'redacted'),
  egressEntries: aCount('entries'),
  redact: aFunction('a function of a text that gives the text to keep'),
}

const BUDGET: ShapesOf<SessionBudget> = {
  toolCalls: aCount('calls'),
  sameToolInARow: aCount('calls'),
  argumentBytes: aCount('bytes'),
  duration: milliseconds,
}

// Whether the key is good and the text is whole is said with a code of its own.
const STATE: ShapesOf<StateSettings> = {
  key: checked(() => undefined),
  resume: such('what exportState() gave', (value) => typeof value === 'string'),
}

const CONTEXT: ShapesOf<EventContext> = {
  request_id: aText('a text'),
  agent: aText('a text'),
  skill: aText('a text'),
  provider: aText('a text'),
  model: aText('a text'),
  manifest_hash: aText('a text'),
}

const SANDBOX: ShapesOf<SandboxOptions> = {
  form: oneOf('auto', ...FORMS),
  launcher: aText('the path of the launcher'),
  nursery: oneOf('start', 'none'),
}

/** None of them is repeated: a key may have been given by mistake. */
const certificates: Shape<readonly string[]> = checked((value, place) => {
  const fix = 'write it like authorities: [readFileSync("ca.pem", "utf8")]'
  if (!Array.isArray(value)) throw place.hidden().wrong(value, 'a list of texts with certificates in PEM', fix)
  for (const [at, text] of value.entries()) {
    const wrong = typeof text === 'string' ? problemOfCertificates(text) : { problem: 'it is no text', fix }
    if (wrong === undefined) continue
    const mend = wrong.problem.startsWith('it holds no certificate in PEM') ? `${fix}; ${wrong.fix}` : wrong.fix
    throw place.at(at).told(`this: ${wrong.problem}`, 'a text with certificates in PEM', mend)
  }
})

/** A mapping of any names; a text in its place may be a secret. */
const named = <Value>(each: Shape<Value>, expected: string, fix: string): Shape<Readonly<Record<string, Value>>> =>
  checked((value, place) => {
    if (!isMapping(value)) throw place.hidden().wrong(value, expected, fix)
    for (const [name, one] of Object.entries(value)) each.read(one, place.entry(name))
  })

const VAULT: ShapesOf<VaultAccess> = {
  address: such('the address of Vault', (value) => typeof value === 'string' && /^https?:\/\//.test(value), {
    fix: 'write it like https://vault.example.org:8200',
  }),
  token: aText('a token'),
  namespace: aText('a name'),
  authorities: certificates,
}

const absolutePaths = list(such<string>('an absolute path', isAbsolute, { fix: ABSOLUTE }), {
  expected: 'a list of absolute paths',
  fix: 'write it like ["/srv/agent/state.key"]',
})
const OWN_FILES: ShapesOf<OwnFilesOption> = { withheld: absolutePaths, readOnly: absolutePaths }

const SECRETS = 'write it like secrets: { "github-token": "env:GITHUB_TOKEN" }'
const PINS = 'write it like pins: { "db.internal": ["10.0.0.5"] }'

// Names and addresses are read with errors of their own.
const EGRESS: ShapesOf<EgressOptions> = {
  authorities: certificates,
  // A text may be the value itself, given in the wrong place.
  secrets: named(
    unshown(
      such<string>('', (value) => typeof value === 'string'),
      'where its value comes from, as a text',
      SECRETS,
    ),
    'a mapping of credentials to where their values come from',
    SECRETS,
  ),
  vault: mappingWith({
    options: VAULT,
    required: ['address', 'token'],
    expected: 'a mapping with address and token',
    fix: 'write it like vault: { address: "https://vault.example.org:8200", token }',
  }),
  stored: aFunction('a function', 'write it like stored: async (team, ref) => Buffer.from(await read(team, ref))'),
  pins: named(
    list(aText('an IP address', PINS), { expected: 'a list of addresses', fix: PINS }),
    'a mapping of names to lists of addresses',
    PINS,
  ),
}

const REGISTRY_NAMES = {
  owner: aText('the name of a team'),
  agent: aText('the name of who calls'),
  runner: aText('the name by which this process takes its calls'),
  labels: list(aText('a label'), { expected: 'a list of labels', fix: 'write it like labels: ["gpu"]' }),
  heartbeatMs: milliseconds,
  silentMs: milliseconds,
  execution: oneOf('here', 'runners'),
}

const OWN_DATABASE: ShapesOf<OwnDatabase> = {
  engine: such('a database', (value) => typeof value === 'object' && value !== null && 'transaction' in value, {
    fix: 'open one with openPostgres({ url }) or openPglite({ folder }) of cordon/store',
  }),
  speaks: oneOf('login', 'gateway'),
  ...REGISTRY_NAMES,
}

const SERVED_REGISTRY: ShapesOf<ServedRegistry> = {
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
}

const ownDatabase = mappingWith({
  options: OWN_DATABASE,
  required: ['engine', 'owner', 'agent', 'runner', 'speaks'],
  expected: 'a mapping',
  fix: 'write it like registry: { engine, owner: "team", agent: "agent-1", runner: "host-1", speaks: "login" }',
})
const servedRegistry = mappingWith({
  options: SERVED_REGISTRY,
  required: ['server', 'owner', 'agent', 'runner'],
  expected: 'a mapping',
  fix: 'write it like registry: { server: "unix:/path/of/socket", owner: "team", agent: "agent-1", runner: "host-1" }',
})
const registry: Shape<OwnDatabase | ServedRegistry> = checked((value, place) => {
  const isServed = typeof value === 'object' && value !== null && 'server' in value
  ;(isServed ? servedRegistry : ownDatabase).read(value, place)
})

const environment: Shape<Readonly<Record<string, string | undefined>>> = checked((value, place) => {
  if (!isMapping(value))
    throw place.wrong(value, 'a mapping of names to texts', 'write it like environment: { LANG: "C" }')
  for (const [name, text] of Object.entries(value))
    if (typeof text !== 'string' && text !== undefined) throw place.at(name).wrong(text, 'a text')
})

/** By its parts and not by its maker, so that two copies of this package in one tree understand each other. */
const isTool = (value: unknown): boolean => {
  if (typeof value !== 'object' || value === null) return false
  const { name, kind, policy, constraints } = value as Readonly<Record<string, unknown>>
  return (
    typeof name === 'string' &&
    typeof kind === 'string' &&
    [policy, constraints].every((part) => typeof part === 'object' && part !== null)
  )
}

const CORDON: ShapesOf<CordonOptions> = {
  tools: list(such('a tool', isTool, { fix: 'make it with tool({ … }) or processTool({ … })' }), {
    expected: 'a list of tools',
    fix: 'write it like tools: [tool({ … }), processTool({ … })]',
  }),
  workspace: such('the absolute path of a folder', isAbsolute, {
    fix: 'name it, for example: workspace: process.cwd()',
  }),
  home: aFolder,
  mode: oneOf(...MODES),
  rules: ruleOption,
  ruleFiles: oneOf('managed', 'all', 'none'),
  configFolder: aFolder,
  hooks: list(
    mappingWith({ options: HOOK, required: ['name', 'points', 'run'], expected: 'a hook', fix: HOOK_SHAPE }),
    { expected: 'a list of hooks', fix: HOOK_SHAPE },
  ),
  approve: aFunction(
    'a function of the request',
    'write it like approve: async ({ tool, input, reason }) => ({ kind: "approve_once", by: "ann" })',
  ),
  approval: mappingWith({
    options: { timeout: milliseconds, otherwise: oneOf('deny', 'approve') },
    required: [],
    expected: 'a mapping',
    fix: 'write it like approval: { timeout: 60_000, otherwise: "deny" }',
  }),
  classify: aFunction('a function of the request'),
  audit: mappingWith({
    options: AUDIT,
    required: ['path'],
    expected: 'a mapping with the path of the log',
    fix: 'write it like audit: { path: "/var/log/my-agent/audit.jsonl" }',
  }),
  record: mappingWith({
    options: RECORD,
    required: [],
    expected: 'a mapping',
    fix: 'write it like record: { arguments: "redacted" }',
  }),
  environment,
  budget: mappingWith({
    options: BUDGET,
    required: [],
    expected: 'a mapping',
    fix: 'write it like budget: { toolCalls: 50 }',
  }),
  requestedBy: aText('a name'),
  context: mappingWith({
    options: CONTEXT,
    required: [],
    expected: 'a mapping',
    fix: 'write it like context: { agent: "reviewer", model: "…" }',
  }),
  state: mappingWith({
    options: STATE,
    required: ['key'],
    expected: 'a mapping with a key',
    fix: 'write it like state: { key }',
  }),
  telemetry: oneOf('auto', 'off'),
  registry,
  ownFiles: mappingWith({
    options: OWN_FILES,
    required: [],
    expected: 'a mapping',
    fix: 'write it like ownFiles: { withheld: ["/srv/agent/state.key"], readOnly: ["/srv/agent/rules.yaml"] }',
  }),
  egress: mappingWith({
    options: EGRESS,
    required: [],
    expected: 'a mapping',
    fix:
      'write it like egress: { secrets: { "github-token": "env:GITHUB_TOKEN" }, pins: { "db.internal": ' +
      '["10.0.0.5"] } }',
  }),
  sandbox: mappingWith({
    options: SANDBOX,
    required: [],
    expected: 'a mapping',
    fix: 'write it like sandbox: { form: "auto" }',
  }),
}
const cordonOptions = mappingWith({
  options: CORDON,
  required: ['tools', 'workspace'],
  expected: 'a mapping with at least tools and workspace',
})

const ASKED_WITH: ShapesOf<AskedWith> = {
  run: aText('the id of a run'),
  step: aText('the name of a step'),
  costEstimate: such('a number from 0', (value) => typeof value === 'number' && value >= 0 && Number.isFinite(value)),
  validMs: such(
    'a number of milliseconds',
    (value) => typeof value === 'number' && value > 0 && Number.isFinite(value),
  ),
}
const CALL: ShapesOf<CallOptions> = {
  signal: such('an AbortSignal', (value) => value instanceof AbortSignal),
  session: aText('a name'),
  onProgress: aFunction('a function of what the tool tells'),
  onOutput: aFunction('a function of what the tool writes'),
  // Each of them is read with errors of its own.
  approvals: such('a list of approvals', Array.isArray),
  invocation: aText('the id of a call in the registry'),
  registry: mappingWith({
    options: ASKED_WITH,
    required: [],
    expected: 'a mapping',
    fix: 'write it like registry: { run: "0190…", costEstimate: 0.02 }',
  }),
  onInvocation: aFunction('a function of the id'),
}
const callOptions = mappingWith({
  options: CALL,
  required: [],
  expected: 'a mapping',
  fix: 'write it like call(name, input, { session: "a" })',
})

export const checkCordonOptions = (options: unknown): void => {
  cordonOptions.read(options, optionPlace('createCordon'))
}

/** A listener for what never happens would wait in silence. */
export const checkEventType = (type: unknown): void => {
  oneOf('*', ...EVENT_TYPES).read(type, optionPlace('on', 'the type of event'))
}

export const checkCallOptions = (options: CallOptions, hasRegistry: boolean): void => {
  callOptions.read(options, optionPlace('call'))
  for (const key of ['invocation', 'registry'] as const)
    if (options[key] !== undefined && !hasRegistry)
      throw optionPlace('call', key).wrong(
        options[key],
        'left out where there is no registry',
        'give createCordon a registry, or leave it out',
      )
}
