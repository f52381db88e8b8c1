import { createHash } from 'node:crypto'

import { areChangesNoticed, createMemory, lookOnce } from '../../platform/index.js'
import type { Boundary } from '../../policy/index.js'

import { FORM_HAS } from './host-facts.js'
import type { HostFacts } from './host-facts.js'
import { planCell } from './plan-cell.js'
import { planAgain } from './planned-cell.js'
import type { CellRequest, PlannedCell } from './planned-cell.js'
import type { RealObject } from '../grants/object-at.js'
import { onlyOrdinary } from '../grants/ordinary-paths.js'
import { viewPresets } from '../grants/system-view.js'
import type { SystemView } from '../grants/system-view.js'

/**
 * Plans cells, and remembers plans that depend only on paths: the launcher resolves those anew each time. Where changes
 * are noticed, it remembers all plans.
 */
export interface Planner {
  readonly plan: (request: CellRequest, sealed: readonly RealObject[]) => PlannedCell
  /** Whether the same plan would be made now. */
  readonly agrees: (planned: PlannedCell, request: CellRequest, sealed: readonly RealObject[]) => boolean
  /** Throws if a call that seals `next` would be refused. Plans only if that may differ from the earlier plan. */
  readonly tryNext: (request: CellRequest, sealed: readonly RealObject[], next: readonly RealObject[]) => void
  readonly forget: () => void
}

const MOST_REMEMBERED = 256

export const createPlanner = (host: HostFacts): Planner => {
  const views = createMemory<SystemView>(MOST_REMEMBERED)
  const remembered = createMemory<PlannedCell>(MOST_REMEMBERED)
  const identities = new WeakMap<object, string>()

  const viewOf = (boundary: Boundary): SystemView => {
    const key = JSON.stringify(
      [boundary.presetRead, boundary.read.filter(({ negated }) => negated)].map((patterns) =>
        patterns.map(({ path }) => path),
      ),
    )
    return views.recall(key, () => viewPresets(boundary))
  }
  /** Parts of a boundary never change, and say everything about themselves as text. */
  const identityOf = (part: object): string => {
    const known = identities.get(part)
    if (known !== undefined) return known
    const identity = createHash('sha256').update(JSON.stringify(part, withAddresses)).digest('base64')
    identities.set(part, identity)
    return identity
  }
  // Made of all other parts, so that a new part of a request or a boundary is in the key too.
  const keyOf = ({ boundary, hostEnvironment, ...request }: CellRequest, sealed: readonly RealObject[]): string => {
    const { limits, presets, require, ...parts } = boundary
    const identities = Object.entries<object>(parts).map(([name, part]) => [name, identityOf(part)])
    return JSON.stringify([identities, limits, presets, require, request, Object.keys(hostEnvironment), sealed])
  }
  const planNow = (request: CellRequest, sealed: readonly RealObject[]): PlannedCell =>
    planCell(request, host, viewOf(request.boundary), sealed)
  return {
    agrees: (planned, request, sealed) =>
      !dependsOnContents(request, sealed) || essenceOf(planned) === essenceOf(planNow(request, sealed)),
    tryNext: (request, sealed, next) => {
      const isSame = sealed.length === next.length && sealed.every(({ path }, at) => path === next[at]?.path)
      if (!isSame || dependsOnContents(request, next)) planNow(request, next)
    },
    forget: () => {
      remembered.forget()
    },
    plan: (request, sealed) => {
      if (!areChangesNoticed() && dependsOnContents(request, sealed)) return planNow(request, sealed)
      // In a local host each run has a proxy with an authority of its own, so nobody asks for its plan again.
      if (areChangesNoticed() && request.proxy !== undefined)
        return onlyOrdinary(() => lookOnce(() => planNow(request, sealed)))
      const made: { now?: PlannedCell } = {}
      const planned = onlyOrdinary(() =>
        remembered.recall(keyOf(request, sealed), () => (made.now = planNow(request, sealed))),
      )
      return planned === made.now ? planned : planAgain(planned)
    },
  }
}

/** Addresses are large numbers, which JSON does not have. */
const withAddresses = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? `${String(value)}n` : value)

/**
 * Patterns and carve-outs are expanded to existing files, which every call has to look for. So are the neighbours of a
 * protected name in the Landlock form, because they are granted one by one.
 */
const dependsOnContents = ({ boundary: { read, write }, form }: CellRequest, sealed: readonly RealObject[]): boolean =>
  [...read, ...write].some(({ negated, kind }) => negated || kind === 'pattern') ||
  (!FORM_HAS[form].ownRoot && sealed.length > 0)

const essenceOf = ({ plan: { steps, rules, temporary }, wallSteps }: PlannedCell): string => {
  const within = (path: string) => (path.startsWith(`${temporary}/`) ? path.slice(temporary.length) : path)
  return JSON.stringify([
    wallSteps,
    steps.map((step) => ({ ...step, path: within(step.path) })),
    rules.map((rule) => (rule.path === temporary ? rule.access : rule)),
  ])
}
