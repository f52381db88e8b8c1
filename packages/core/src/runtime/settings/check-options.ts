// Checks the options of createCordon and of a call.
import { BACKENDS, FORMS } from '../../policy/index.js'
import { HOOK_POINTS, MODES, RULE_SOURCES } from '../../gate/index.js'
import type { SessionBudget } from '../../gate/index.js'
import type { ContainerOptions, SandboxOptions } from '../../sandbox/index.js'

import { DURABILITIES } from '../audit/audit-log.js'
import type { AuditLog, AuditSettings } from '../audit/audit-log.js'
import type {
  CallOptions,
  CordonOptions,
  HostHook,
  OwnFilesOption,
  ResumeOptions,
  ResumedCallOptions,
  UnconfinedOptions,
} from '../cordon-options.js'
import { EVENT_TYPES } from '../events/event-parts.js'
import type { EventContext } from '../events/event.js'
import type { RecordSettings } from '../events/recorded-arguments.js'
import { aCount, aFunction, aText, shapeOfCheck, mapping, mappingWith, optionPlace } from '../option-checks.js'
import type { ShapesOf } from '../option-checks.js'
import { egressOption } from './egress-option.js'
import { askedWithOption, registryOption } from './registry-option.js'
import type { ManifestOption } from '../held/hold-tools.js'
import { ruleOption } from './rule-sets.js'
import type { StateSettings } from './session-state.js'
import type { TicketSettings } from '../suspend/ticket.js'
import { isMapping, list, oneOf, such } from '../../shapes/index.js'
import type { Shape } from '../../shapes/index.js'

const isAbsolute = (value: unknown): boolean => typeof value === 'string' && value.startsWith('/')
const ABSOLUTE = 'make it absolute, for example with resolve() of node:path'
const aFolder = such<string>('the absolute path of a folder', isAbsolute, { fix: ABSOLUTE })
const milliseconds = aCount('milliseconds', 'write 60_000 for a minute')

const KNOWN_POINTS = `points: ${HOOK_POINTS.join(', ')}`
const HOOK: ShapesOf<HostHook> = {
  name: aText('a name, by which the record tells of it'),
  points: shapeOfCheck((value, place) => {
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

const auditSettings = mapping<AuditSettings>(
  {
    path: aText('the path of a JSONL file'),
    anchorPath: aText('the path of a file'),
    durability: oneOf(...DURABILITIES),
    syncAfter: milliseconds,
    maxFileBytes: aCount('bytes'),
    lockTimeout: milliseconds,
    now: aFunction('a function that gives milliseconds since 1970'),
    newId: aFunction('a function that gives a new id'),
  },
  'audit: { path: "/var/log/my-agent/audit.jsonl" }',
  {
    required: ['path'],
    expected: 'a mapping with the path of the log',
  },
)

const audit: Shape<AuditSettings | AuditLog> = shapeOfCheck((value, place) => {
  const isOpen = isMapping(value) && typeof value['append'] === 'function'
  if (!isOpen) auditSettings.read(value, place)
})

const record = mapping<RecordSettings>(
  {
    arguments: oneOf('hash', 'redacted'),
    egressEntries: aCount('entries'),
    redact: aFunction('a function of a text that gives the text to keep'),
  },
  'record: { arguments: "redacted" }',
)

const budget = mapping<SessionBudget>(
  {
    toolCalls: aCount('calls'),
    sameToolInARow: aCount('calls'),
    argumentBytes: aCount('bytes'),
    duration: milliseconds,
  },
  'budget: { toolCalls: 50 }',
)

/** A mapping that holds a key. Whoever gives the key alone must not read it in an error. */
const withKey = <Settings>(shape: Shape<Settings>): Shape<Settings> =>
  shapeOfCheck((value, place) => {
    shape.read(value, isMapping(value) ? place : place.hidden())
  })

// session-state.ts checks key and text, with an error code of its own.
const state = mapping<StateSettings>(
  {
    key: shapeOfCheck(() => undefined),
    resume: such('what exportState() gave', (value) => typeof value === 'string'),
  },
  'state: { key }',
  { required: ['key'], expected: 'a mapping with a key' },
)

const tickets = mapping<TicketSettings>(
  {
    // A key in the wrong form is still a key, and errors end up in logs.
    key: shapeOfCheck((value, place) => {
      const isKeys = [value].flat().every((each) => each instanceof Uint8Array)
      if (!isKeys)
        throw place.told(
          'something else',
          'at least 32 bytes, or a list of such keys',
          'use randomBytes(32) of node:crypto, and keep it where your hosts can read it',
        )
    }),
    folder: aFolder,
    lifetime: milliseconds,
  },
  'tickets: { key, folder: "/srv/agent/tickets" }',
  { required: ['key'], expected: 'a mapping with a key' },
)

const context = mapping<Omit<EventContext, 'manifest_hash'>>(
  {
    request_id: aText('a text'),
    agent: aText('a text'),
    skill: aText('a text'),
    provider: aText('a text'),
    model: aText('a text'),
  },
  'context: { agent: "reviewer", model: "…" }',
)

const manifestOption = mapping<ManifestOption>(
  {
    file: aText('the path of a manifest'),
    content: such('a parsed manifest', isMapping),
    key: aText('the path of its key'),
    enforce: such('true or false', (value) => typeof value === 'boolean'),
  },
  'manifest: { file: "cordon.manifest.json", enforce: false }',
)

const SOCKET = 'give a path without "unix://", such as "/run/podman/podman.sock"'

const containers = mapping<ContainerOptions>(
  {
    socket: such<string>("the absolute path of an engine's socket", isAbsolute, { fix: SOCKET }),
    launcher: aText('the path of a launcher'),
    images: oneOf('digest', 'any'),
  },
  'containers: { images: "digest" }',
)
const sandbox = mapping<SandboxOptions>(
  {
    backend: oneOf('auto', ...BACKENDS),
    form: oneOf('auto', ...FORMS),
    launcher: aText('the path of the launcher'),
    nursery: oneOf('start', 'none'),
  },
  'sandbox: { form: "auto" }',
)

const absolutePaths = list(such<string>('an absolute path', isAbsolute, { fix: ABSOLUTE }), {
  expected: 'a list of absolute paths',
  fix: 'write it like ["/srv/agent/state.key"]',
})
const ownFiles = mapping<OwnFilesOption>(
  { withheld: absolutePaths, readOnly: absolutePaths },
  'ownFiles: { withheld: ["/srv/agent/state.key"], readOnly: ["/srv/agent/rules.yaml"] }',
)

const environment: Shape<Readonly<Record<string, string | undefined>>> = shapeOfCheck((value, place) => {
  if (!isMapping(value))
    throw place.wrong(value, 'a mapping of names to texts', 'write it like environment: { LANG: "C" }')
  for (const [name, text] of Object.entries(value))
    if (typeof text !== 'string' && text !== undefined) throw place.at(name).wrong(text, 'a text')
})

/** Checked by its parts, so that a tool of another copy of this package is accepted. */
const isTool = (value: unknown): boolean =>
  isMapping(value) &&
  [value['name'], value['kind']].every((part) => typeof part === 'string') &&
  [value['policy'], value['constraints']].every((part) => typeof part === 'object' && part !== null)

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
  approval: mapping(
    { timeout: milliseconds, otherwise: oneOf('deny', 'approve') },
    'approval: { timeout: 60_000, otherwise: "deny" }',
  ),
  classify: aFunction('a function of the request'),
  audit,
  onEvent: aFunction('a function of an event'),
  record,
  environment,
  concurrency: such('a number of calls, at least 1', (value) => Number.isInteger(value) && Number(value) >= 1),
  budget,
  requestedBy: aText('a name'),
  context,
  manifest: shapeOfCheck((value, place) => {
    if (typeof value !== 'string') manifestOption.read(value, place)
    else aText('the path of a manifest').read(value, place)
  }),
  state: withKey(state),
  tickets: withKey(tickets),
  telemetry: oneOf('auto', 'off'),
  registry: registryOption,
  ownFiles,
  egress: egressOption,
  sandbox,
  containers,
}
const cordonOptions = mappingWith({
  options: CORDON,
  required: ['tools', 'workspace'],
  expected: 'a mapping with at least tools and workspace',
})

const RESUME: ShapesOf<ResumeOptions> = {
  signal: such('an AbortSignal', (value) => value instanceof AbortSignal),
  onProgress: aFunction('a function of what the tool tells'),
  onOutput: aFunction('a function of what the tool writes'),
  onLog: aFunction('a function of a log line'),
  attachment: shapeOfCheck(() => undefined),
}
const resumeOptions = mapping<ResumedCallOptions>(
  { ...RESUME, expected: such('{ tool, input }', isMapping) },
  'resume(ticket, answer, { signal })',
)

const unconfinedOptions = mapping<UnconfinedOptions>(
  { signal: RESUME.signal, onOutput: RESUME.onOutput, session: aText('a name') },
  'runUnconfined(name, input, { signal })',
)

const callOptions = mapping<CallOptions>(
  {
    ...RESUME,
    onAsk: oneOf('wait', 'suspend'),
    session: aText('a name'),
    // Each approval is checked later, with an error of its own.
    approvals: such('a list of approvals', Array.isArray),
    invocation: aText('the id of a call in the registry'),
    registry: askedWithOption,
    onInvocation: aFunction('a function of the id'),
  },
  'call(name, input, { session: "a" })',
)

export const checkCordonOptions = (options: unknown): void => {
  cordonOptions.read(options, optionPlace('createCordon'))
}

/** A listener for an unknown type would never be called. */
export const checkEventType = (type: unknown): void => {
  oneOf('*', ...EVENT_TYPES).read(type, optionPlace('on', 'the type of event'))
}

export const checkResumeOptions = (options: ResumedCallOptions): void => {
  resumeOptions.read(options, optionPlace('resume'))
}

export const checkUnconfinedOptions = (options: UnconfinedOptions): void => {
  unconfinedOptions.read(options, optionPlace('runUnconfined'))
}

export const checkCallOptions = (
  options: CallOptions,
  { hasRegistry, hasTickets }: { readonly hasRegistry: boolean; readonly hasTickets: boolean },
): void => {
  callOptions.read(options, optionPlace('call'))
  if (options.onAsk === 'suspend' && !hasTickets)
    throw optionPlace('call', 'onAsk').wrong(
      options.onAsk,
      '"wait" where there are no tickets',
      'give createCordon a key for them: tickets: { key, folder }',
    )
  for (const key of ['invocation', 'registry'] as const)
    if (options[key] !== undefined && !hasRegistry)
      throw optionPlace('call', key).wrong(
        options[key],
        'left out where there is no registry',
        'give createCordon a registry, or leave it out',
      )
}
