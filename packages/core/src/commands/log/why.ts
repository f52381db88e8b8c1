// `cordon why`: explains one call from the audit log.
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'

import { fail } from '../../errors/index.js'
import type { PermissionDecision } from '../../gate/index.js'
import { LIMIT_FORMS, LIMIT_NAMES, renderSize, renderTime } from '../../policy/index.js'
import type { Limits } from '../../policy/index.js'
import type { CordonEvent } from '../../runtime/index.js'
import type { SandboxProfile } from '../../sandbox/index.js'

import { usage } from '../../line/arguments.js'
import type { CommandLine } from '../../line/caller.js'
import { STDERR, STDOUT, oneLine, paintFor, writeText } from '../../line/text/console-text.js'
import type { Paint } from '../../line/text/console-text.js'
import { measuredText, mechanismsText } from '../../line/text/usage-text.js'
import { auditPathOf } from '../../settings/own-folders.js'
import { callEvents, deniedMeanwhile, onePerPackage } from '../../records/index.js'
import type { DeniedEvent } from '../../records/index.js'
import { commandIn, renderEvent, whyCallEnded } from './log-text.js'
import { networkLines } from './reached-text.js'

const EXIT_UNKNOWN = 1
const OF_A_TEAM = 'for a call of a team: cordon why ID (see: cordon team calls list)'

export const why = async ({ given, environment }: CommandLine): Promise<number> => {
  const [wanted, ...more] = given.rest
  if (wanted === undefined || wanted === '' || more.length > 0)
    throw usage('no call is named, or more than one', 'cordon why', 'name one call, such as: cordon why last')
  const path = given.values.get('log')?.[0] ?? auditPathOf(environment, homedir())
  if (!existsSync(path))
    throw fail('file-unreadable', {
      path,
      problem: 'there is no such log',
      fix: `name it with --log, or set CORDON_AUDIT; ${OF_A_TEAM}`,
    })
  const events = await callEvents(path, wanted)
  if (events.length === 0) {
    writeText(
      STDERR,
      `cordon: there is no call ${oneLine(wanted)} in ${oneLine(path)}; see: cordon log show; ` +
        `${OF_A_TEAM}, with --store DIR, --server URL or --database URL if it is not in the default store\n`,
    )
    return EXIT_UNKNOWN
  }
  const paint = paintFor(STDOUT, environment)
  writeText(
    STDOUT,
    given.switches.has('json')
      ? events.map((event) => `${JSON.stringify(event)}\n`).join('')
      : renderCall(events, wanted === 'last' ? await deniedMeanwhile(path, events) : [], paint),
  )
  return 0
}

const MOST_DENIED = 5

const deniedLine = ({ tool, reason, call_id: id }: DeniedEvent): Line => [
  'refused',
  `${tool} while it ran: ${reason}; see: cordon why ${id.slice(0, 8)}`,
]

const renderCall = (events: readonly CordonEvent[], denied: readonly DeniedEvent[], paint: Paint): string => {
  const decisions = events.flatMap((event) =>
    event.type === 'permission.evaluated' ? [event.permission_decision] : [],
  )
  const applied = events.flatMap((event) => (event.type === 'sandbox.applied' ? [event.sandbox_profile] : []))
  // The last one, because a person may have edited it at the prompt.
  const command = events
    .flatMap((event) =>
      event.type === 'process.started' || event.type === 'permission.evaluated'
        ? (commandIn(event.arguments.text) ?? [])
        : [],
    )
    .at(-1)
  const lines = [
    ...(command === undefined ? [] : [['command', command] as const]),
    ...decisions.flatMap((decision, at) => decisionLines(decision, at === decisions.length - 1)),
    ...manifestLines(events),
    ...applied.flatMap(boundaryLines),
    ...(events.some(({ type }) => type === 'sandbox.unconfined') ? [UNCONFINED] : []),
    ...networkLines(events),
    ...events.flatMap(usageLines),
    ...denied.slice(-MOST_DENIED).map(deniedLine),
  ]
  return [
    `${paint('bold', oneLine(whyCallEnded(events)))}\n\n`,
    ...lines.map(([name, text]) => `${paint('dim', name.padEnd(NAME_WIDTH))}${oneLine(text)}\n`),
    '\n',
    ...onePerPackage(events).map((event) => `${renderEvent(event, paint)}\n`),
  ].join('')
}

type Line = readonly [string, string]

/** Leaves out the system paths of every cell, among which granted ones would be hard to see. */
const withoutSystem = (paths: readonly string[]): string => {
  const granted = paths.filter((path) => !/^\/(?:usr|bin|sbin|lib\w*|etc)(?:\/|$)/.test(path))
  return [...granted, ...(granted.length < paths.length ? ['(system; --json has all paths)'] : [])].join(' ')
}

const NAME_WIDTH = 11

const manifestLines = (events: readonly CordonEvent[]): readonly Line[] => {
  const held = events.flatMap((event) => (event.type === 'permission.evaluated' ? (event.manifest ?? []) : [])).at(-1)
  if (held === undefined) return []
  const { name, hash, verdict, differences } = held
  return [
    ['manifest', `${verdict === 'within' ? 'within' : 'BEYOND'} ${name} (${hash})`],
    ...differences.map((text) => ['', text] as const),
  ]
}

const UNCONFINED: Line = ['boundary', 'UNCONFINED: none, because the host called runUnconfined']

const boundaryLines = (profile: SandboxProfile): readonly Line[] => [
  ['boundary', profile.backend === 'native' ? profile.form : `${profile.backend}, ${profile.form}`],
  ...(profile.image === undefined ? [] : [['image', profile.image] as const]),
  ...(profile.passed_over ?? []).map(({ backend, reason }) => ['passed over', `${backend}: ${reason}`] as const),
  ['in', profile.cwd],
  ['reads', withoutSystem(profile.read_roots)],
  ['writes', profile.write_roots.join(' ') || 'nothing'],
  ...(profile.sealed.length === 0 ? [] : [['sealed', profile.sealed.join(' ')] as const]),
  ...(profile.closed_folders.length === 0
    ? []
    : [['closed', `${profile.closed_folders.join(' ')} (nothing new can be made there)`] as const]),
  ['network', typeof profile.network === 'string' ? profile.network : profile.network.join(' ')],
  ['variables', profile.environment_ref.join(' ') || 'none'],
  ['limits', LIMIT_NAMES.flatMap((name) => limitText(name, profile.process_limits[name])).join(', ') || 'none'],
  [
    'enforced',
    Object.entries(profile.enforced)
      .map(([boundary, mechanisms]) => `${boundary}: ${mechanismsText(boundary, mechanisms)}`)
      .join('; '),
  ],
]

const usageLines = (event: CordonEvent): readonly Line[] =>
  (event.type === 'process.completed' || event.type === 'process.terminated') && event.usage !== null
    ? [['used', measuredText(event.usage)]]
    : []

const QUANTITIES = { size: renderSize, duration: renderTime, count: String } as const

const limitText = (name: keyof Limits, limit: number | undefined): readonly string[] =>
  limit === undefined ? [] : [`${name} ${QUANTITIES[LIMIT_FORMS[name].quantity](limit)}`]

const PERMITTED: ReadonlySet<PermissionDecision['decision']> = new Set(['allow', 'sandboxed'])

const decisionLines = (
  { decision, decision_source: source, decision_reason: reason, tool, mode, risk, explain }: PermissionDecision,
  isLast: boolean,
): readonly Line[] => [
  ['decision', `${decision} of ${tool} by ${source}: ${reason}`],
  ['mode', `${mode}, risk ${risk}`],
  ...explain.rules.map(
    ({ effect, place, because, standing }) => ['rule', `${effect} (${standing}) ${place}: ${because}`] as const,
  ),
  ...explain.asked_again_because.map((text) => ['again', text] as const),
  // Advice about an earlier decision no longer applies.
  ...(isLast ? explain.what_would_change_it : []).map(
    (text) => [PERMITTED.has(decision) ? 'to stop it' : 'change', text] as const,
  ),
]
