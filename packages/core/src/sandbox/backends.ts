// Which backend builds the cell of a call: the launcher alone, or a wall around it.
import { fail } from '../errors/index.js'
import type { Boundary, Form, LinuxBackend, WallName } from '../policy/index.js'

import type { HostFacts, PassedOver } from './plan/host-facts.js'
import type { CellConnection, StartedLauncher } from './launch/cell.js'
import type { CellRequest, PlannedCell } from './plan/planned-cell.js'
import type { Planner } from './plan/planner.js'
import { problemOf, missingMechanism } from './plan/requirements.js'
import type { TriedWall } from './host/try-wall.js'

export interface Backend {
  readonly host: HostFacts
  readonly planner: Planner
  /** Natively, the plan is sent to the launcher later. A wall mounts what the plan says when it starts. */
  readonly launch: (request: CellRequest, planned: PlannedCell) => StartedLauncher
  /** Gives a launcher a head start, if the request alone says which namespaces it needs. A wall needs the plan. */
  readonly launchAhead?: (request: CellRequest) => CellConnection | undefined
}

export interface Backends {
  readonly strongest: Backend
  readonly pick: (boundary: Pick<Boundary, 'require' | 'network'>, form: Form | 'auto') => Promise<Backend>
}

export interface Openers {
  readonly native: (passedOver: readonly PassedOver[]) => Backend
  readonly tryWall: (name: WallName) => Promise<TriedWall>
  readonly walled: (tried: TriedWall & { readonly held: true }, passedOver: readonly PassedOver[]) => Backend
}

/** `auto` tries walls only if the launcher alone cannot make namespaces. */
export const openBackends = async (
  wanted: LinuxBackend | 'auto',
  form: Form | 'auto',
  native: HostFacts,
  { native: openNative, tryWall, walled }: Openers,
): Promise<Backends> => {
  const only = (backend: Backend): Backends => ({ strongest: backend, pick: () => Promise.resolve(backend) })
  if (wanted === 'native' || (wanted === 'auto' && (native.namespaces.held || form !== 'auto')))
    return only(openNative([]))
  if (wanted !== 'auto') {
    const tried = await tryWall(wanted)
    if (tried.held) return only(walled(tried, []))
    const fix = `install it for the whole system, or leave the backend to Cordon (auto); \`cordon doctor\` tries each`
    throw fail('host-cannot-hold', { mechanism: wanted, problem: tried.reason, fix })
  }
  const withoutNamespaces: PassedOver = {
    backend: 'native',
    reason: `namespaces: ${problemOf(native.namespaces) ?? ''}`,
  }
  const bubblewrap = await tryWall('bubblewrap')
  const passedWall: PassedOver = {
    backend: 'bubblewrap',
    reason: bubblewrap.held ? 'it does not hold what the policy requires' : bubblewrap.reason,
  }
  const [alone, asAsked] = [openNative([passedWall]), openNative([])]
  const strong = [
    ...(bubblewrap.held ? [walled(bubblewrap, [withoutNamespaces])] : []),
    ...(native.landlock.held ? [alone] : []),
  ]
  let last: Promise<Backend | undefined> | undefined
  const lastResort = async (): Promise<Backend | undefined> => {
    const tried = await tryWall('firejail')
    return tried.held ? walled(tried, [withoutNamespaces, passedWall]) : undefined
  }
  const strongest = strong[0] ?? (await lastResort()) ?? alone
  return {
    strongest,
    pick: async (boundary, asked) => {
      // No wall was asked whether it holds this form.
      if (asked !== 'auto') return asAsked
      // Native namespaces do not hold here, so every cell has the landlock form.
      const holds = ({ host }: Backend) => missingMechanism(boundary, 'landlock', host) === undefined
      const held = strong.find(holds)
      if (held !== undefined) return held
      const other = await (last ??= lastResort())
      return other !== undefined && holds(other) ? other : strongest
    },
  }
}
