import { tmpdir } from 'node:os'

import type { AbsolutePath } from '../../policy/index.js'

import { refused } from '../plan/host-facts.js'
import type { HostFacts } from '../plan/host-facts.js'

const OF_LINUX = refused('platform', 'it is a mechanism of Linux')

/** The mechanisms of Linux, all missing. */
export const NO_HOST_FACTS: HostFacts = {
  launcher: '',
  namespaces: OF_LINUX,
  mounts: OF_LINUX,
  ownProc: OF_LINUX,
  landlock: { ...OF_LINUX, abi: 0 },
  listener: OF_LINUX,
  nesting: OF_LINUX,
  borrowing: OF_LINUX,
  cgroup: OF_LINUX,
  measuring: OF_LINUX,
  kernelSecrets: [],
  isRoot: false,
  identity: undefined,
  wall: undefined,
  passedOver: [],
  temporaryFolder: tmpdir() as AbsolutePath,
}
