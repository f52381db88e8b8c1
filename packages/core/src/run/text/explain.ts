// Violations of a run as messages on stderr, with the option that would allow each.
import { realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

import { shellWord } from '../../platform/index.js'
import { escapeGlob, isWebPort } from '../../policy/index.js'
import type { AbsolutePath } from '../../policy/index.js'
import { isOfImage, pathToGrant } from '../../runtime/hints/index.js'
import { describeOwnFile, ownFileAt } from '../../runtime/own-files/index.js'
import type { OwnFile } from '../../runtime/own-files/index.js'
import { LIMIT_KINDS, describeViolation, isHabit, isIntrusion, isKernelView, isLookup } from '../../sandbox/index.js'
import type { CallResult, RefusedOpen, SandboxProfile, Violation } from '../../sandbox/index.js'

const MOST_LINES = 20

const MOST_DESTINATIONS = 3

/**
 * Limits, protected names and refusals of the proxy are always shown, because programs may go on without them and exit
 * with 0. Other refusals are shown if the command failed or was observed. Intrusions are errors of their own.
 */
export const explainViolations = (result: CallResult, observed: boolean, explained: Explained): readonly string[] => {
  const { argv } = explained
  const linesOf = linesFor(explained, result.profile)
  const told = result.violations.filter(
    (violation) => !isIntrusion(violation) && (observed || !isHabit(violation, argv)),
  )
  if (hasFailed(result) || observed) return atMost(MOST_LINES, linesOf(told))
  return [...atMost(MOST_LINES, linesOf(told.filter(isAlwaysTold))), ...refusedByProxy(told, linesOf)]
}

interface Explained {
  readonly argv: readonly string[]
  /** The typed grants. */
  readonly grants: readonly string[]
  /** Never suggested as grants, which would be refused. */
  readonly ownFiles: readonly OwnFile[]
  readonly workspace: AbsolutePath
  readonly home: AbsolutePath
}

type LinesOf = (violations: readonly Violation[]) => readonly string[]

const linesFor =
  ({ grants, ownFiles, workspace, home }: Explained, profile: SandboxProfile): LinesOf =>
  (violations) => [
    ...programLines(violations, ownFiles),
    ...new Set(
      violations
        .filter((violation) => ownProgramOf(violation, ownFiles) === undefined)
        .map(withRealProgram)
        .map(
          (violation) =>
            onOwnFile(violation, ownFiles) ??
            onImage(violation, profile, [workspace, home]) ??
            `${describeViolation(violation)}${wayOut(violation, grants)}`,
        ),
    ),
  ]

const onOwnFile = (violation: Violation, ownFiles: readonly OwnFile[]): string | undefined => {
  if (violation.kind !== 'file' && violation.kind !== 'exec') return undefined
  const own = ownFileAt(violation.path, violation.kind === 'file' ? violation.access : 'read', ownFiles)
  return own === undefined ? undefined : describeOwnFile(violation.path, own, 'command')
}

const ownProgramOf = (violation: Violation, ownFiles: readonly OwnFile[]): OwnFile | undefined => {
  if (violation.kind !== 'file' || violation.access !== 'write') return undefined
  const own = ownFileAt(violation.path, 'write', ownFiles)
  return own?.program === undefined ? undefined : own
}

/** One line for what Cordon runs from, however many packages and files of it a command tried to remove. */
const programLines = (violations: readonly Violation[], ownFiles: readonly OwnFile[]): readonly string[] => {
  const touched = violations.flatMap((violation) => ownProgramOf(violation, ownFiles) ?? [])
  const [first, ...more] = [...new Map(touched.map((own) => [own.path, own])).values()]
  if (first === undefined) return []
  const others = more.length === 0 ? '' : `; so are ${more.length} more that it tried to change`
  return [`${describeOwnFile(first.path, first, 'command')}${others}`]
}

const onImage = (violation: Violation, profile: SandboxProfile, own: readonly AbsolutePath[]): string | undefined =>
  violation.kind === 'file' && isOfImage(profile, violation.path, own)
    ? `${describeViolation(violation)}, a path of the image: no command can change it; write to $TMPDIR, or to a ` +
      'folder that --write grants'
    : undefined

/** One line for each destination, and only a few, because the command succeeded without them. */
const refusedByProxy = (violations: readonly Violation[], linesOf: LinesOf): readonly string[] => {
  const first = new Map<string, Violation>()
  const refused = violations.filter((violation) => violation.kind === 'egress')
  for (const violation of refused) {
    const destination = `${violation.host}:${String(violation.port)}`
    if (!first.has(destination)) first.set(destination, violation)
  }
  const shown = linesOf([...first.values()].slice(0, MOST_DESTINATIONS))
  const more = linesOf(refused).length - shown.length
  return more === 0 ? shown : [...shown, `the proxy refused ${String(more)} more; see: cordon why last`]
}

/** Makes /bin and /usr/bin one, because a shell tries every folder of PATH. */
const withRealProgram = (violation: Violation): Violation => {
  if (violation.kind !== 'exec') return violation
  try {
    return { ...violation, path: join(realpathSync(dirname(violation.path)), basename(violation.path)) }
  } catch {
    return violation
  }
}

export const hasFailed = (result: CallResult): boolean => result.status !== 'exited' || result.exitCode !== 0

const atMost = (most: number, lines: readonly string[]): readonly string[] =>
  lines.length > most
    ? [...lines.slice(0, most), `and ${String(lines.length - most)} more; --facts FILE has all of them`]
    : lines

const ALWAYS_TOLD: ReadonlySet<Violation['kind']> = new Set(LIMIT_KINDS)

const isAlwaysTold = (violation: Violation): boolean =>
  ALWAYS_TOLD.has(violation.kind) || (violation.kind === 'file' && violation.reason.kind === 'protected')

/** The option that would allow it, if there is one. `grants` are the typed ones. */
export const wayOut = (violation: Violation, grants: readonly string[] = []): string => {
  switch (violation.kind) {
    case 'file':
      return isGrantable(violation)
        ? `: add --${violation.access} ${shellWord(escapeGlob(pathToGrant(violation)))}`
        : ''
    case 'connect':
      if (violation.family === 'host') return adding('net', `${violation.name}:${String(violation.port)}`, grants)
      if (violation.family !== 'inet' && violation.family !== 'inet6') return ': cells cannot reach sockets of the host'
      return isLookup(violation)
        ? `${adding('net', 'HOST', grants)} for each host`
        : adding('net', endpointOf(violation), grants)
    case 'lookup':
      return adding('net', violation.name, grants)
    case 'listen':
      return violation.family === 'inet' || violation.family === 'inet6' ? adding('net', 'all', grants) : ''
    case 'exec':
      return adding('exec', violation.path, grants)
    case 'egress':
      return onEgress(violation, grants)
    case 'metadata':
    case 'protected':
    case 'unsealed':
      return ''
    case 'scratch':
    case 'fileSize':
      return ` (limits.${violation.kind})`
    case 'wall':
      return ' (--timeout)'
    case 'memory':
    case 'output':
    case 'processes':
    case 'cpu':
      return ` (--${violation.kind})`
  }
}

/** An option `none` cannot stand beside another of its name. */
const adding = (option: 'net' | 'exec', value: string, grants: readonly string[]): string => {
  const none = `--${option} none`
  return `: ${grants.includes(none) ? `replace ${none} by` : 'add'} --${option} ${shellWord(value)}`
}

type RefusedRequest = Extract<Violation, { readonly kind: 'egress' }>

/** The command line grants whole hosts and addresses. Parts of a host need a policy. */
const onEgress = ({ reason, method, host, port, allow }: RefusedRequest, grants: readonly string[]): string => {
  if (reason === 'not-granted' && method === null && host !== '')
    return adding('net', endpointOf({ address: host, port }), grants)
  if (allow === null) return ''
  const whole = /^network: \["([^"]+)"\]$/.exec(allow)?.[1]
  return whole === undefined
    ? `: add to a policy: ${allow}`
    : `${adding('net', whole, grants)}; or add to a policy: ${allow}`
}

/** For `--net`, where a host alone means ports 80 and 443. */
const endpointOf = ({ address, port }: { readonly address: string; readonly port: number }): string => {
  const host = address.includes(':') ? `[${address}]` : address
  return isWebPort(port) ? host : `${host}:${String(port)}`
}

const isGrantable = ({ access, path }: RefusedOpen): boolean =>
  !isKernelView(path) || (access === 'read' && path.startsWith('/sys/'))
