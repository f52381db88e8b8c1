// Compares what code does with what a policy grants. What is known of a path, a host, a name or a program is compared
// exactly. Of what is only known when the tool runs, the kind must be granted.
import { posix } from 'node:path'

import {
  canMatchBeneath,
  compileNetwork,
  coversHost,
  isMatch,
  isReadable,
  isThisHost,
  isWritable,
  parseAbsolutePath,
  parseRequestHost,
  readUrlPath,
  startWalk,
  step,
} from 'cordon/policy'
import type { AbsolutePath, Boundary, CompiledNetwork, PathPattern, Places, RequestHost } from 'cordon/policy'

import type { Deed, Target, Text } from './use.js'

/** What a policy lacks for a deed. */
export interface Lack {
  /** "reads /etc/passwd" */
  readonly does: string
  /** What to add, such as `read: [/etc/passwd]`. */
  readonly grant: Grant
}

export interface Grant {
  readonly section: 'read' | 'write' | 'network' | 'environment' | 'exec'
  /** Undefined if it is only known when the tool runs. */
  readonly entry: string | undefined
}

export type Judge = (deed: Deed) => Lack | undefined

/** Variables that every cell has. */
const OWN_VARIABLES: ReadonlySet<string> = new Set(['PATH', 'HOME', 'TMPDIR'])
/** A cell has a folder of its own there. */
const TEMPORARY = '/tmp' as AbsolutePath

/** `hasCell`: false for a tool in the agent's own process, whose temporary files and loopback are those of the host. */
export const createJudge = (boundary: Boundary, places: Places, hasCell: boolean): Judge => {
  const network = compileNetwork(boundary)
  return (deed) => {
    switch (deed.kind) {
      case 'read':
      case 'write':
        return judgeFile(boundary, deed.kind, deed.path, places, hasCell)
      case 'network':
        return judgeTarget(boundary, network, deed.target, hasCell)
      case 'environment':
        return judgeVariable(boundary, deed.name)
      case 'exec':
        return judgeProgram(boundary, deed.program, places)
      case 'opaque':
      case 'package':
        return undefined
    }
  }
}

const judgeFile = (
  boundary: Boundary,
  access: 'read' | 'write',
  path: Text,
  places: Places,
  hasCell: boolean,
): Lack | undefined => {
  const verb = access === 'read' ? 'reads' : 'writes'
  if (path.kind === 'unknown') {
    const granted = [...(access === 'read' ? boundary.read : []), ...boundary.write].some(({ negated }) => !negated)
    return granted ? undefined : { does: `${verb} files`, grant: { section: access, entry: undefined } }
  }
  const absolute = absoluteOf(path.text, places)
  if (hasCell && isBeneath(absolute, TEMPORARY) && !isBeneath(absolute, places.workspace)) return undefined
  if (path.kind === 'start') {
    const folder = path.text.endsWith('/') ? absolute : (posix.dirname(absolute) as AbsolutePath)
    return mayReach(boundary, access, folder)
      ? undefined
      : {
          does: `${verb} files in ${shown(folder, places)}`,
          grant: { section: access, entry: `${shown(folder, places)}/**` },
        }
  }
  const isGranted = access === 'read' ? isReadable(boundary, absolute) : isWritable(boundary, absolute)
  return isGranted
    ? undefined
    : { does: `${verb} ${shown(absolute, places)}`, grant: { section: access, entry: shown(absolute, places) } }
}

/** Whether something in the folder is granted. */
const mayReach = (boundary: Boundary, access: 'read' | 'write', folder: AbsolutePath): boolean => {
  const patterns = access === 'read' ? [...boundary.read, ...boundary.presetRead, ...boundary.write] : boundary.write
  return patterns.some((pattern) => !pattern.negated && reachesInto(pattern, folder))
}

const reachesInto = ({ segments }: PathPattern, folder: AbsolutePath): boolean => {
  const names = folder.split('/').filter((name) => name !== '')
  let state = startWalk(segments)
  for (const name of names) state = step(segments, state, name)
  // A path without a wildcard means everything below it too.
  return canMatchBeneath(segments, state) || isMatch(segments, state)
}

const absoluteOf = (text: string, { workspace, home }: Places): AbsolutePath => {
  const path = text === '~' || text.startsWith('~/') ? posix.join(home, text.slice(1)) : posix.resolve(workspace, text)
  return parseAbsolutePath(path === '/' ? path : path.replace(/\/$/, ''), 'path')
}

const isBeneath = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`)

/** As a policy writes it. */
const shown = (path: AbsolutePath, { workspace, home }: Places): string => {
  if (path === workspace) return '.'
  if (isBeneath(path, workspace)) return `.${path.slice(workspace.length)}`
  return isBeneath(path, home) ? `~${path.slice(home.length)}` : path
}

const judgeVariable = ({ environment }: Boundary, name: Text): Lack | undefined => {
  if (name.kind !== 'whole')
    return environment.length > 0
      ? undefined
      : { does: 'reads environment variables', grant: { section: 'environment', entry: undefined } }
  if (OWN_VARIABLES.has(name.text) || environment.some((entry) => entry.name === name.text)) return undefined
  return { does: `reads the variable ${name.text}`, grant: { section: 'environment', entry: name.text } }
}

const judgeProgram = ({ exec }: Boundary, program: Text, places: Places): Lack | undefined => {
  if (exec.kind === 'all') return undefined
  if (program.kind !== 'whole')
    return exec.kind === 'list' && exec.programs.length > 0
      ? undefined
      : { does: 'starts programs', grant: { section: 'exec', entry: undefined } }
  const { text } = program
  const isPath = text.includes('/')
  const wanted = isPath ? absoluteOf(text, places) : text
  const isListed =
    exec.kind === 'list' &&
    exec.programs.some(
      (listed) =>
        listed === wanted ||
        (!isPath && listed.endsWith(`/${text}`)) ||
        (isPath && !listed.includes('/') && wanted.endsWith(`/${listed}`)),
    )
  return isListed ? undefined : { does: `starts ${text}`, grant: { section: 'exec', entry: text } }
}

const judgeTarget = (
  boundary: Boundary,
  network: CompiledNetwork,
  target: Target,
  hasCell: boolean,
): Lack | undefined =>
  target.kind === 'url' ? judgeUrl(boundary, network, target, hasCell) : judgeStream(boundary, network, target, hasCell)

const anyHost = (boundary: Boundary, does: string): Lack | undefined =>
  boundary.network.kind === 'none' || boundary.egressClass.level === 'none'
    ? { does, grant: { section: 'network', entry: undefined } }
    : undefined

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'https:': 443, 'http:': 80, 'wss:': 443, 'ws:': 80 }

const judgeUrl = (
  boundary: Boundary,
  network: CompiledNetwork,
  { url: text, method }: Extract<Target, { kind: 'url' }>,
  hasCell: boolean,
): Lack | undefined => {
  const url = urlOf(text)
  // The loopback of a cell is its own.
  if (url === 'local' || (hasCell && url !== undefined && isThisHost(url.hostname))) return undefined
  if (url === undefined) return anyHost(boundary, 'sends requests')
  const host = parseRequestHost(url.hostname)
  const port = url.port === '' ? (DEFAULT_PORTS[url.protocol] ?? 443) : Number(url.port)
  const entry = url.port === '' ? url.hostname : url.host
  const word = method.kind === 'whole' ? method.text.toUpperCase() : undefined
  const lack: Lack = { does: `sends ${word ?? 'requests'} to ${entry}`, grant: { section: 'network', entry } }
  if (host === undefined) return lack
  // Of an unknown method or path, a part of the host must be granted.
  if (word === undefined || text.kind !== 'whole')
    return network.connection(host, port) === undefined ? lack : undefined
  const answer = network.answer({ host, port, use: { kind: 'http', method: word, paths: readUrlPath(url.pathname) } })
  return answer.kind === 'allowed' ? undefined : lack
}

/** Undefined if the host is not known. */
const urlOf = (text: Text): URL | 'local' | undefined => {
  if (text.kind === 'unknown') return undefined
  // Without the slash behind it, the host may go on.
  if (text.kind === 'start' && !/^[a-z]+:\/\/[^/?#]+[/?#]/i.test(text.text)) return undefined
  try {
    const url = new URL(text.text)
    return ['data:', 'blob:', 'file:'].includes(url.protocol) ? 'local' : url
  } catch {
    return undefined
  }
}

const judgeStream = (
  boundary: Boundary,
  network: CompiledNetwork,
  { host: name, port: number }: Extract<Target, { kind: 'stream' }>,
  hasCell: boolean,
): Lack | undefined => {
  if (name.kind !== 'whole') return anyHost(boundary, 'connects to hosts')
  if (hasCell && isThisHost(name.text)) return undefined
  const host = parseRequestHost(name.text)
  const port = number.kind === 'whole' ? Number(number.text) : 443
  const entry = number.kind === 'whole' ? `${name.text}:${number.text}` : name.text
  const lack: Lack = { does: `connects to ${entry}`, grant: { section: 'network', entry } }
  if (host === undefined || !Number.isInteger(port)) return lack
  if (number.kind !== 'whole') return hasEntryFor(boundary, host) ? undefined : lack
  const way = network.connection(host, port)
  return way === undefined || way === 'http' ? lack : undefined
}

/** Whether some entry is about the host, at whichever port. */
const hasEntryFor = ({ network }: Boundary, host: RequestHost): boolean =>
  network.kind === 'all' ||
  (network.kind === 'hosts' &&
    network.entries.some(({ action, destination }) => action !== 'deny' && coversHost(destination, host)))
