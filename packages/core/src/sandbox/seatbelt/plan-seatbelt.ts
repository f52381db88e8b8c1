// Plans one call for Seatbelt: from a boundary and the files of this Mac to a profile. What Seatbelt cannot enforce is
// refused here.
import { fail } from '../../errors/index.js'
import type { AbsolutePath, Boundary, PathPattern } from '../../policy/index.js'
import { isWithinPath } from '../../policy/index.js'

import { realBoundary } from '../grants/carve-outs.js'
import { objectAt, pathsOf, realObjectAt, realPathOf } from '../grants/object-at.js'
import type { RealObject } from '../grants/object-at.js'
import { findProgram, refuseCarvedOutProgram } from '../grants/program.js'
import { surveyGrants } from '../grants/survey.js'
import { viewPresets } from '../grants/system-view.js'
import { reachesOf, renderReach, unsupportedGrant } from '../plan/plan-network.js'
import type { EnforcedBy, SandboxProfile } from '../plan/sandbox-profile.js'
import type { SeatbeltPlan } from './profile-text.js'

interface SeatbeltRequest {
  readonly boundary: Boundary
  readonly cwd: AbsolutePath
  readonly program: string
  readonly searchPath: string
  readonly temporary: AbsolutePath
  /** The port of the proxy, if there is one for this call. */
  readonly port: number | undefined
}

interface PlannedSeatbelt extends SeatbeltPlan {
  readonly program: AbsolutePath
}

export const planSeatbelt = (request: SeatbeltRequest): PlannedSeatbelt => {
  const { boundary, temporary } = request
  refuseUnsupported(boundary)
  const cwd = realPathOf(request.cwd)
  if (cwd === undefined || objectAt(cwd) !== 'directory') throw fail('cwd-missing', { path: request.cwd })
  const { read: readPatterns, write: writePatterns } = realBoundary(boundary)
  const survey = surveyGrants(boundary)
  const find = (name: string) => {
    const found = findProgram(name, cwd, request.searchPath)
    refuseCarvedOutProgram(name, found, boundary)
    return found
  }
  const program = find(request.program)
  const listed = boundary.exec.kind === 'list' ? boundary.exec.programs.map(find) : []
  const executables = [...new Set([program, ...listed].flatMap((each) => each.executables))]
  const { places, files } = viewPresets(boundary)
  const read = [...places, ...files].flatMap(({ path }) => realPathOf(path) ?? []).flatMap(realObjectAt)
  const granted = [...survey.read, ...survey.write]
  for (const pattern of [...readPatterns, ...writePatterns]) refuseOtherSpellings(pattern, granted)
  return {
    read: [...read, ...survey.read, ...executables.flatMap(realObjectAt)],
    write: survey.write,
    patterns: { read: readPatterns, write: writePatterns },
    exec: boundary.exec.kind === 'all' ? 'all' : executables,
    network: networkOf(request),
    temporary,
    cwd,
    mayFork: boundary.limits.processes !== 1,
    program: program.path,
  }
}

const networkOf = ({ boundary: { network, egressClass }, port }: SeatbeltRequest): SeatbeltPlan['network'] => {
  if (network.kind === 'none') return 'none'
  if (network.kind === 'hosts' && port !== undefined) return { port }
  if (network.kind === 'hosts')
    throw unsupportedGrant(
      network.entries.map(({ text }) => text).join(', '),
      'grants by host need a proxy, and this call has none',
      'run it by createCordon(), or grant none or all of the network',
    )
  if (egressClass.level !== 'write')
    throw unsupportedGrant(
      'all',
      `without the proxy, nothing holds egress_class: ${egressClass.level}`,
      'name the hosts',
    )
  return 'all'
}

/** Node cannot set rlimits, and macOS has no other way that needs no shell. */
const refuseUnsupported = ({ limits, require }: Boundary): void => {
  const [mechanism] = require
  if (mechanism !== undefined)
    throw fail('host-cannot-hold', { mechanism, problem: 'it is a mechanism of Linux', fix: 'do not require it' })
  const held = (name: string, value: number | undefined) =>
    value === undefined || name === 'wall' || name === 'output' || (name === 'processes' && value === 1)
  const [limit] = Object.entries(limits).find(([name, value]) => !held(name, value as number | undefined)) ?? []
  if (limit !== undefined)
    throw fail('limit-unsupported', {
      limit,
      problem: 'on macOS, Cordon holds limits of time (wall), output and one process',
      fix: `remove limits.${limit}, or run the tool on Linux`,
    })
}

/** A letter beyond ASCII can be spelt in several ways that macOS takes for the same name. A denial would miss them. */
const refuseOtherSpellings = ({ negated, segments, text }: PathPattern, granted: readonly RealObject[]): void => {
  if (!negated) return
  const names = segments.flatMap((segment) => (segment.kind === 'name' ? [segment.name] : []))
  const base = `/${names.join('/')}` as AbsolutePath
  // Up to a granted folder there is one spelling: the one that grants it.
  const depths = granted.filter(({ path }) => isWithinPath(base, path)).map(({ path }) => path.split('/').length - 1)
  const beyond = JSON.stringify(segments.slice(Math.max(0, ...depths)))
  if (/[^\x00-\x7f]/.test(beyond))
    throw fail('grant-inexpressible', {
      section: 'filesystem',
      grant: text,
      problem: 'macOS takes several spellings of these letters for the same name, and Seatbelt does not',
      fix: 'carve out a folder whose name is ASCII',
    })
}

/** The record of the call. `claims` are what the self-test showed on this Mac. */
export const describeSeatbelt = (
  { boundary }: Pick<SeatbeltRequest, 'boundary'>,
  plan: PlannedSeatbelt,
  claims: EnforcedBy,
  variables: readonly string[],
): SandboxProfile => {
  const { limits, network } = boundary
  return {
    mode: 'sandboxed',
    backend: 'seatbelt',
    form: 'seatbelt',
    cwd: plan.cwd,
    read_roots: pathsOf(plan.read),
    write_roots: pathsOf(plan.write),
    sealed: [],
    closed_folders: [],
    network: network.kind === 'hosts' ? reachesOf(network.entries).map(renderReach) : network.kind,
    environment_ref: [...variables].sort(),
    process_limits: { ...limits },
    violation_refs: [],
    enforced: {
      ...claims,
      ...(network.kind === 'all' ? { network: [] } : {}),
      ...(plan.exec === 'all' ? { exec: [] } : {}),
      'environment': ['cleared'],
      'limits.processes': plan.mayFork ? [] : ['seatbelt'],
      ...(limits.wall === undefined ? {} : { 'limits.wall': ['host-process'] }),
      'limits.output': ['host-process'],
    },
  }
}
