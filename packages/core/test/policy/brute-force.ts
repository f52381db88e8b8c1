// What cell and proxy do, asked one attempt at a time. Requests are judged by the functions of the proxy itself.
import { findAddresses } from '../../src/egress/rules/address-guard.js'
import { createJudge } from '../../src/egress/rules/judge.js'
import {
  DEFAULT_LIMITS,
  DEFAULT_OUTPUT_BYTES,
  credentialsBoundTo,
  credentialsWithin,
  isReadable,
  isWritable,
  matches,
  parseIpAddress,
  parseRequestHost,
} from '../../src/policy/index.js'
import type { Boundary, IpAddress, Limits, RequestHost, RequestScope, RequestWitness } from '../../src/policy/index.js'
import { buildEnvironment } from '../../src/sandbox/plan/environment.js'

import { path } from './places.js'

export interface Attempt {
  readonly host: string
  readonly port: number
  /** A method with the target of a request, or a connection that is not HTTP. */
  readonly use: { readonly method: string; readonly target: string } | 'stream' | 'direct'
}

/** A target that servers read in more ways than the proxy follows. */
const AMBIGUOUS = '/%5c'

export const attemptOf = ({ host, port, use }: RequestWitness): Attempt => ({
  host,
  port,
  use:
    use.kind === 'http'
      ? { method: use.method, target: use.path === 'ambiguous' ? AMBIGUOUS : encodeURI(use.path) }
      : use.kind,
})

const addressOf = (text: string): IpAddress => {
  const address = parseIpAddress(text)
  if (address === undefined) throw new Error(`no address: ${text}`)
  return address
}

const hostOf = (text: string): RequestHost => {
  const host = parseRequestHost(text)
  if (host === undefined) throw new Error(`no host: ${text}`)
  return host
}

const judges = new WeakMap<RequestScope, ReturnType<typeof createJudge>>()

const judgeOf = (scope: RequestScope): ReturnType<typeof createJudge> => {
  const judge = judges.get(scope) ?? createJudge({ network: scope, writeApproval: 'recorded' })
  judges.set(scope, judge)
  return judge
}

/** Whether the proxy passes an attempt on, if its address may be dialled. */
export const passes = (scope: RequestScope, { host, port, use }: Attempt): boolean => {
  const judge = judgeOf(scope)
  const endpoint = { host: hostOf(host), port }
  const admission = judge.connection(endpoint)
  if (admission.kind === 'denial') return false
  if (use === 'stream') return admission.mayBeOther
  // The host's own network has no proxy. A class below `write` could not be held there, and is refused.
  if (use === 'direct')
    return scope.network.kind === 'all' ? scope.egressClass.level === 'write' : admission.treatment === 'direct'
  const request = { ...use, headers: [], wantsWebSocket: false, body: undefined }
  return judge.request(endpoint, request).kind === 'grant'
}

/** How a name came by its address: the operator gave it, or its owner did. */
export const WAYS = ['pinned', 'resolved'] as const

export const dials = async (
  { network }: RequestScope,
  { host, port }: Pick<Attempt, 'host' | 'port'>,
  address: string,
  way: (typeof WAYS)[number],
): Promise<boolean> => {
  if (network.kind === 'all') return true
  const endpoint = { host: hostOf(host), port }
  const pins = new Map(way === 'pinned' ? [[host, [addressOf(address)]]] : [])
  const found = findAddresses(
    endpoint,
    { network: { network }, pins },
    { resolve: () => Promise.resolve([addressOf(address)]), isNested: () => false },
  )
  return found.then(
    () => true,
    () => false,
  )
}

/** Each credential of a request, with the place that it fills. */
export const carried = (boundary: Boundary, attempt: Attempt): readonly string[] => {
  if (!passes(boundary, attempt)) return []
  const bound = credentialsBoundTo(boundary.credentials, hostOf(attempt.host), attempt.port)
  return credentialsWithin(bound, (scope) => passes(scope, attempt)).map(({ id, inject }) =>
    JSON.stringify([id, inject.kind === 'header' ? { ...inject, name: inject.name.toLowerCase() } : inject]),
  )
}

export const canAccess = (boundary: Boundary, access: 'read' | 'write', text: string): boolean => {
  if (access === 'write') return isWritable(boundary, path(text))
  const isProgram = boundary.exec.kind === 'list' && boundary.exec.programs.includes(text)
  // A program that is listed and carved out is refused.
  const isCarved = [...boundary.read, ...boundary.write].some(
    (pattern) => pattern.negated && matches(pattern, path(text)),
  )
  return isReadable(boundary, path(text)) || (isProgram && !isCarved)
}

const FOLDERS_OF_PROGRAMS = ['/usr/local/bin', '/usr/bin', '/bin']

export const canStart = (boundary: Boundary, program: string): boolean => {
  switch (boundary.exec.kind) {
    case 'none':
      return false
    case 'list':
      return (
        boundary.exec.programs.includes(program) && (!program.startsWith('/') || canAccess(boundary, 'read', program))
      )
    case 'all':
      // A program that is named lies in one of these folders.
      return (program.startsWith('/') ? [program] : FOLDERS_OF_PROGRAMS.map((folder) => `${folder}/${program}`)).some(
        (file) => canAccess(boundary, 'read', file),
      )
  }
}

const HOST_VARIABLES = { LANG: 'of the host', TZ: 'of the host', A: 'of the host', HOME: 'of the host' }

/** The variables of the tool that are not in every cell. */
export const variablesOf = (boundary: Boundary): ReadonlySet<string> => {
  const placeholders = boundary.credentials.flatMap(({ placeholder }) => placeholder ?? [])
  const own = Object.fromEntries(placeholders.map(({ name, text }) => [name, text]))
  const built = buildEnvironment(boundary, HOST_VARIABLES, path('/tmp'), own)
  const common = buildEnvironment({ ...boundary, environment: [] }, {}, path('/tmp'))
  return new Set(
    Object.entries(built)
      .filter(([name, value]) => common[name] !== value)
      .map(([name, value]) => `${name}=${value}`),
  )
}

/** Tools have a default for their output, `cordon run` has none: a limit is larger if it is so for one of them. */
export const isLimitLarger = (a: Boundary, b: Boundary, name: keyof Limits): boolean =>
  [DEFAULT_LIMITS, { ...DEFAULT_LIMITS, output: DEFAULT_OUTPUT_BYTES }].some((defaults) => {
    const limitOf = ({ limits }: Boundary): number => ({ ...defaults, ...limits })[name] ?? Infinity
    return limitOf(a) > limitOf(b)
  })
