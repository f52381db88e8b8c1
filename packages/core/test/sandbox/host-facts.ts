// The facts of a host that can enforce everything, and variations.
import type { Attempt, HostFacts } from '../../src/sandbox/index.js'
import { path } from '../policy/places.js'

export const HELD: Attempt = { held: true }

export const notHeld = (problem: string): Extract<Attempt, { readonly held: false }> => ({
  held: false,
  stage: 'somewhere',
  problem,
})

export const hostWith = (changes: Partial<HostFacts> = {}): HostFacts => ({
  launcher: '/build/cordon-cell',
  namespaces: HELD,
  ownProc: HELD,
  landlock: { held: true, abi: 7 },
  mounts: HELD,
  listener: HELD,
  nesting: notHeld('cells have a listener of their own'),
  borrowing: HELD,
  cgroup: notHeld('nothing is delegated'),
  measuring: HELD,
  kernelSecrets: [],
  isRoot: false,
  identity: undefined,
  wall: undefined,
  passedOver: [],
  temporaryFolder: path('/tmp'),
  ...changes,
})
