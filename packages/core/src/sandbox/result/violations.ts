/** Limits that are reported when they are reached. `processes` counts threads too. */
export const LIMIT_KINDS = ['memory', 'processes', 'cpu', 'wall', 'output', 'scratch', 'fileSize'] as const
export type LimitKind = (typeof LIMIT_KINDS)[number]

/** The address of a socket, as far as the launcher knows it. */
export type SocketAddress =
  | { readonly family: 'inet' | 'inet6'; readonly address: string; readonly port: number }
  | { readonly family: 'unix'; readonly path: string }
  | { readonly family: 'abstract'; readonly name: string }
  | { readonly family: 'other'; readonly number: number }
  /** A granted name on a port that is not granted. */
  | { readonly family: 'host'; readonly name: string; readonly port: number }

/** A protected name in a write root that the call touched, and the response. */
type Intrusion =
  /**
   * It appeared and was renamed, so that nothing runs it. The tool or its user may have made it: `restore` is the
   * command that brings it back.
   */
  | { readonly deed: 'set-aside'; readonly path: string; readonly aside: string; readonly restore: string }
  /** It is a link that was removed, and was put back. */
  | { readonly deed: 'put-back'; readonly path: string }
  /** It appeared and could not be renamed. */
  | { readonly deed: 'left'; readonly path: string }
  /** It appeared, and was left: another call that may make it ran in the same folder, and either may have made it. */
  | { readonly deed: 'shared'; readonly path: string }
  /** The write root has more entries than are searched. */
  | { readonly deed: 'unseen'; readonly path: string }
  /** It had another name (a hard link), and is a separate file now. */
  | { readonly deed: 'separated'; readonly path: string }
  /** The next call with these write roots would be refused because of what this one left. */
  | { readonly deed: 'unusable'; readonly path: string; readonly problem: string }

/** Something that the tool tried and its boundary refused. */
export type Violation =
  | ({ readonly kind: 'connect' } & SocketAddress)
  | ({ readonly kind: 'listen' } & SocketAddress)
  /** No grant covers the name. It was not resolved. */
  | { readonly kind: 'lookup'; readonly name: string }
  | RefusedRequest
  | { readonly kind: 'exec'; readonly path: string }
  | RefusedOpen
  /** Mode, owner, times or attributes of something outside the write roots. */
  | { readonly kind: 'metadata'; readonly path: string }
  | ({ readonly kind: 'protected' } & Intrusion)
  /**
   * Another program replaced or removed a sealed or hidden object, which opens it to the tool. So the call was killed.
   */
  | { readonly kind: 'unsealed'; readonly path: string }
  | ReachedLimit

interface RefusedRequest {
  readonly kind: 'egress'
  readonly host: string
  readonly port: number
  readonly method: string | null
  readonly path: string | null
  readonly reason: string
  readonly because: string
  /** The policy line that would allow it. */
  readonly allow: string | null
}

export interface RefusedOpen {
  readonly kind: 'file'
  readonly access: 'read' | 'write'
  /** Links resolved. `openedAs` is the path that the tool used. */
  readonly path: string
  readonly openedAs: string
  readonly reason: { readonly kind: 'not-granted' } | { readonly kind: 'protected'; readonly because: string }
}

/** Bytes, milliseconds or a count, by the kind of limit. */
export interface ReachedLimit {
  readonly kind: LimitKind
  readonly limit: number
  readonly used: number
  /** Whether the call was killed, or only the excess was refused. */
  readonly effect: 'ended' | 'refused'
}

/** Such a call is never a success: something protected was touched, or fell open. */
export const isIntrusion = (
  violation: Violation,
): violation is Extract<Violation, { kind: 'protected' | 'unsealed' }> =>
  violation.kind === 'protected' || violation.kind === 'unsealed'

const DNS = 53

/** The tool asks the host's resolver for a name. It is refused before the name is sent. */
export const isLookup = (violation: Violation): boolean =>
  violation.kind === 'connect' &&
  (violation.family === 'inet' || violation.family === 'inet6') &&
  violation.port === DNS

/** The most violations of one call that are reported, because the tool decides how many there are. */
export const MOST_VIOLATIONS_TOLD = 100

/** A violation in words, without a fix: that depends on the caller. */
export const describeViolation = (violation: Violation): string => {
  switch (violation.kind) {
    case 'connect':
      return isLookup(violation)
        ? `refused to look up the name of a host (at ${describeAddress(violation)})`
        : `refused connection to ${describeAddress(violation)}`
    case 'listen':
      return `refused to listen on ${describeAddress(violation)}`
    case 'lookup':
      return `refused to look up ${violation.name}`
    case 'egress':
      if (violation.host === '') return `refused a request to the proxy: ${violation.because}`
      return (
        `refused ${violation.method ?? 'connection to'} ` +
        `${violation.host}:${violation.port}${violation.path ?? ''}: ${violation.because}`
      )
    case 'exec':
      return `refused to execute ${violation.path}`
    case 'file':
      return describeRefusedOpen(violation)
    case 'metadata':
      return `refused change of ${violation.path}: metadata outside the write roots`
    case 'protected':
      return describeIntrusion(violation)
    case 'unsealed':
      return (
        `${violation.path} was replaced, removed or linked by another program while the call ran, which opened ` +
        'it; the call was ended'
      )
    case 'memory':
      if (violation.effect === 'refused')
        return (
          `refused shared memory: ${asSize(violation.used)} would be beyond its memory limit of ` +
          asSize(violation.limit)
        )
      return `ended by its memory limit of ${asSize(violation.limit)}: ${asSize(violation.used)} used`
    case 'output':
      return `ended by its output limit of ${asSize(violation.limit)}: ${asSize(violation.used)} used`
    case 'fileSize':
      return `ended by its limit of ${asSize(violation.limit)} for one file`
    case 'scratch':
      return `its private folder is full: limit of ${asSize(violation.limit)}`
    case 'processes':
      return violation.effect === 'refused'
        ? `refused one more process or thread: limit of ${violation.limit}`
        : `ended by its limit of ${violation.limit} processes and threads: ${violation.used} counted`
    case 'cpu':
      return `ended by its processor time limit of ${asTime(violation.limit)}`
    case 'wall':
      return `ended by its wall-clock limit of ${asTime(violation.limit)}`
  }
}

const describeAddress = (at: SocketAddress): string => {
  switch (at.family) {
    case 'inet':
      return `${at.address}:${at.port}`
    case 'inet6':
      return `[${at.address}]:${at.port}`
    case 'unix':
      return `the socket ${at.path}`
    case 'abstract':
      return `the abstract socket @${at.name}`
    case 'host':
      return `${at.name}:${at.port}`
    case 'other':
      return `an address of family ${at.number}`
  }
}

const describeIntrusion = (intrusion: Intrusion): string => {
  switch (intrusion.deed) {
    case 'set-aside':
      return (
        `protected name ${intrusion.path}: made while the call ran, by it or by another program, and set ` +
        `aside; if it is yours: ${intrusion.restore}`
      )
    case 'put-back':
      return `protected link ${intrusion.path}: it was removed, and put back`
    case 'left':
      return `protected name ${intrusion.path}: it could not be set aside; look at it before you use the folder`
    case 'shared':
      return (
        `protected name ${intrusion.path}: made while the call ran, by it or by another call that may make it, ` +
        'and left; look at it before you use the folder'
      )
    case 'unseen':
      return (
        `${intrusion.path} holds more than is looked through for protected names; look at what the command ` +
        'made there before you use it'
      )
    case 'separated':
      return `protected name ${intrusion.path}: it had another name (a hard link); it is a file of its own now`
    case 'unusable':
      return `${intrusion.path} cannot be granted to another call as it is now: ${intrusion.problem}`
  }
}

const describeRefusedOpen = ({ access, path, reason }: RefusedOpen): string =>
  `refused ${access} of ${path}${reason.kind === 'protected' ? ` (protected: ${reason.because})` : ''}`

const UNITS: readonly (readonly [string, number])[] = [
  ['G', 2 ** 30],
  ['M', 2 ** 20],
  ['K', 2 ** 10],
]

const asSize = (bytes: number): string => {
  const [unit, factor] = UNITS.find(([, size]) => bytes >= size) ?? ['B', 1]
  return `${String(Math.round((bytes / factor) * 10) / 10)}${unit}`
}

const asTime = (milliseconds: number): string =>
  milliseconds < 1000 ? `${milliseconds}ms` : `${Math.round(milliseconds / 10) / 100}s`
