// The fix for a call that met its boundary: the policy lines that would allow what was refused.
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'

import { realPlaceOf } from '../../platform/index.js'
import { escapeGlob, isWebPort, isWithinPath } from '../../policy/index.js'
import type { AbsolutePath } from '../../policy/index.js'
import { isKernelView, isLookup } from '../../sandbox/index.js'
import type { RefusedOpen, SandboxProfile, Violation } from '../../sandbox/index.js'

import { describeOwnFile, ownFileAt } from '../own-files/index.js'
import type { OwnFile } from '../own-files/index.js'

export interface AdviceContext {
  readonly workspace: AbsolutePath
  /** Never advised: a grant of them would be refused. */
  readonly ownFiles: readonly OwnFile[]
  /** In a container: paths that no grant of the host makes writable. */
  readonly isOfImage?: (path: string) => boolean
}

const MOST_ENTRIES = 5

/** The lines of a policy that would allow what was refused. */
export const policyLines = (violations: readonly Violation[], advised: AdviceContext): readonly string[] =>
  linesOf({ ...wantedBy(violations, advised), limits: new Set() })

const wantedBy = (violations: readonly Violation[], advised: AdviceContext): Wanted => {
  const wanted = nothingWanted()
  for (const violation of violations) want(violation, wanted, advised)
  return wanted
}

/** Empty if no line would help. */
export const policyAdvice = (violations: readonly Violation[], advised: AdviceContext): string => {
  const wanted = wantedBy(violations, advised)
  const lines = linesOf(wanted)
  return [
    ...(lines.length === 0 ? [] : [`if that is intended, add to the policy of the tool: ${lines.join(', ')}`]),
    ...(violations.some(isLookup) ? [LOOKUP_ADVICE] : []),
    ...wanted.remarks,
  ].join('; ')
}

/** The name that was looked up is not known: the query was never sent. */
const LOOKUP_ADVICE =
  "it tried to look up the name of a host; grant the hosts it needs: policy: { network: ['example.org'] }"

const nothingWanted = () => ({
  read: new Set<string>(),
  write: new Set<string>(),
  /** By real path: a shell tries every folder of PATH, and /bin is /usr/bin on most systems. */
  exec: new Map<string, string>(),
  network: new Set<string>(),
  limits: new Set<string>(),
  lines: new Set<string>(),
  remarks: new Set<string>(),
})

type Wanted = ReturnType<typeof nothingWanted>

const want = (violation: Violation, wanted: Wanted, { workspace, ownFiles, isOfImage }: AdviceContext): void => {
  const isOwn = (path: string, access: 'read' | 'write'): boolean => {
    const own = ownFileAt(path, access, ownFiles)
    if (own !== undefined) wanted.remarks.add(describeOwnFile(path, own, 'tool'))
    return own !== undefined
  }
  const file = (path: string, access: 'read' | 'write', granted = path): void => {
    if (!isOwn(path, access)) wanted[access].add(patternFor(granted, workspace))
  }
  if ('limit' in violation) {
    wanted.limits.add(violation.kind)
    return
  }
  switch (violation.kind) {
    case 'file': {
      const { path, access } = violation
      if (isKernelView(path)) return
      if (isOfImage?.(path) === true) {
        wanted.remarks.add(IMAGE_ADVICE)
        return
      }
      file(path, access, pathToGrant(violation))
      return
    }
    case 'metadata':
      file(violation.path, 'write')
      return
    case 'protected':
      if (violation.deed === 'set-aside' || violation.deed === 'left' || violation.deed === 'put-back')
        file(violation.path, 'write')
      return
    case 'exec': {
      const real = realPlaceOf(violation.path)
      if (!isOwn(violation.path, 'read') && !wanted.exec.has(real)) wanted.exec.set(real, violation.path)
      return
    }
    case 'connect':
      if (isLookup(violation)) return
      if (violation.family === 'host') wanted.network.add(`${violation.name}:${violation.port}`)
      else if (violation.family === 'inet' || violation.family === 'inet6')
        wanted.network.add(endpointOf(violation.address, violation.port))
      else wanted.remarks.add('cells cannot reach sockets of the host')
      return
    case 'lookup':
      wanted.network.add(violation.name)
      return
    case 'egress':
      if (violation.reason === 'not-granted' && violation.method === null && violation.host !== '')
        wanted.network.add(endpointOf(violation.host, violation.port))
      else if (violation.allow !== null) wanted.lines.add(violation.allow)
      return
    case 'listen':
      if (violation.family === 'inet' || violation.family === 'inet6') wanted.lines.add("network: 'all'")
      return
    case 'unsealed':
      return
  }
}

/** A missing file needs a grant of its folder, except a protected name in a write root. */
export const pathToGrant = ({ access, path, reason }: RefusedOpen): string =>
  access === 'write' && reason.kind === 'not-granted' && !existsSync(path) ? dirname(path) : path

const IMAGE_ADVICE =
  'no tool can change its image: let it write to the folder that TMPDIR names, or to a folder that its policy grants'

const linesOf = ({ read, write, exec, network, limits, lines }: Wanted): readonly string[] => [
  ...(read.size + write.size === 0
    ? []
    : [`filesystem: { ${[...entry('read', read), ...entry('write', write)].join(', ')} }`]),
  ...entry('exec', exec.values()),
  ...entry('network', network),
  ...lines,
  ...[...limits].map((name) => `a larger limits.${name}`),
]

const entry = (key: string, values: Iterable<string>): readonly string[] => {
  const all = [...values]
  return all.length === 0
    ? []
    : [`${key}: [${all.slice(0, MOST_ENTRIES).map(quoted).join(', ')}${all.length > MOST_ENTRIES ? ', …' : ''}]`]
}

export const readLine = (path: AbsolutePath, workspace: AbsolutePath): string =>
  `filesystem: { ${entry('read', [patternFor(path, workspace)]).join('')} }`

const quoted = (text: string): string => `'${text.replace(/[\\']/g, (character) => `\\${character}`)}'`

/** The path as a policy has it: relative to the workspace if it lies there. */
const patternFor = (path: string, workspace: AbsolutePath): string => {
  if (path === workspace) return '.'
  return escapeGlob(
    isWithinPath(path as AbsolutePath, workspace) ? path.slice(workspace === '/' ? 1 : workspace.length + 1) : path,
  )
}

/** A host without a port means the web ports. */
const endpointOf = (address: string, port: number): string => {
  const host = address.includes(':') && !isWebPort(port) ? `[${address}]` : address
  return isWebPort(port) ? host : `${host}:${port}`
}

/**
 * Whether a path that a program in a container used is one of its image. A grant of the same path of the host would not
 * help. Below `folders`, which are the user's, a path is meant to be one of the host.
 */
export const isOfImage = (
  { backend, read_roots: read, write_roots: write }: Pick<SandboxProfile, 'backend' | 'read_roots' | 'write_roots'>,
  path: string,
  folders: readonly AbsolutePath[],
): boolean =>
  backend === 'container' &&
  ![...read, ...write, ...folders].some(
    (root) => root !== '/' && isWithinPath(path as AbsolutePath, root as AbsolutePath),
  )
