// Containers that a process of Cordon could not remove, because it was killed between making and starting one.
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

import type { Engine } from './engine.js'

const OWNER = 'cordon.owner'

/** The label of a container: the process that it belongs to, which no other process ever equals. */
export const ownerLabel = (): Readonly<Record<string, string>> => ({
  [OWNER]: JSON.stringify({ place: placeOf(), pid: process.pid, started: startOf(process.pid) }),
})

/** Removes the containers of processes that ended. Those of another machine, or of another container, stay. */
export const sweepLeftovers = async (engine: Engine): Promise<void> => {
  const containers = await engine.labelled(OWNER)
  const left = containers.filter(({ labels }) => isLeft(labels[OWNER] ?? ''))
  await Promise.all(left.map(({ id }) => engine.remove(id)))
}

const isLeft = (label: string): boolean => {
  try {
    const { place, pid, started } = JSON.parse(label) as Readonly<Record<string, unknown>>
    return place === placeOf() && typeof pid === 'number' && startOf(pid) !== started
  } catch {
    return false
  }
}

/** Process numbers mean something in one pid namespace, of one boot, of one machine. */
const placeOf = (): string =>
  [hostname(), read('/proc/sys/kernel/random/boot_id').trim(), linkAt('/proc/self/ns/pid')].join(' ')

/** Field 22 of stat. The name of the program, which may contain anything, ends at the last parenthesis. */
const startOf = (pid: number): string => read(`/proc/${pid}/stat`).replace(/^.*\)/s, '').split(' ')[20] ?? ''

const read = (path: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

const linkAt = (path: string): string => {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}
