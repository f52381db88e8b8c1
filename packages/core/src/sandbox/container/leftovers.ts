// Containers that a process of Cordon could not remove, because it was killed between making and removing one.
import { hostname } from 'node:os'

import { PLATFORM, describeSelf, isDead } from '../../platform/index.js'

import type { Engine } from './engine.js'

const OWNER = 'cordon.owner'

/** The label of a container: the process that it belongs to, which no other process ever equals. */
export const ownerLabel = (): Readonly<Record<string, string>> => ({
  [OWNER]: JSON.stringify([placeOf(), describeSelf()]),
})

/**
 * Removes the containers of processes that ended. Those of another machine, or of another container, stay. So does one
 * that the engine cannot remove: the next process tries it again.
 */
export const sweepLeftovers = async (engine: Engine): Promise<void> => {
  const containers = await engine.labelled(OWNER)
  const left = containers.filter(({ labels }) => isLeft(labels[OWNER] ?? ''))
  await Promise.allSettled(left.map(({ id }) => engine.remove(id)))
}

const isLeft = (label: string): boolean => {
  try {
    const [place, owner] = JSON.parse(label) as readonly unknown[]
    return place === placeOf() && typeof owner === 'string' && isDead(owner, describeSelf())
  } catch {
    return false
  }
}

/** Process numbers mean something in one pid namespace, of one boot, of one machine. */
const placeOf = (): string => [hostname(), PLATFORM.bootId(), PLATFORM.pidNamespace()].join(' ')
