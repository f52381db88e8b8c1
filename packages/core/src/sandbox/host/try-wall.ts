import { lstatSync, realpathSync } from 'node:fs'
import { dirname } from 'node:path'

import type { WallName } from '../../policy/index.js'

import type { HostFacts } from '../plan/host-facts.js'
import { bubblewrap } from '../walls/bubblewrap.js'
import { firejail } from '../walls/firejail.js'
import type { Wall } from '../walls/wall.js'
import { probeWall } from './probe-host.js'
import type { Surroundings } from './probe-host.js'
import { isExecutable } from '../grants/object-at.js'

export type TriedWall =
  | { readonly held: true; readonly wall: Wall; readonly host: HostFacts }
  | { readonly held: false; readonly reason: string }

const KINDS: Readonly<
  Record<WallName, { readonly program: string; readonly make: (program: string, launcher: string) => Wall }>
> = {
  bubblewrap: { program: 'bwrap', make: bubblewrap },
  firejail: { program: 'firejail', make: firejail },
}

/** Starts a wall with a launcher that builds a small cell inside. */
export const tryWall = async (name: WallName, launcher: string, surroundings: Surroundings): Promise<TriedWall> => {
  const { program, make } = KINDS[name]
  const found = trustedProgram(program)
  if (found.kind === 'refused') return { held: false, reason: found.problem }
  const wall = make(found.path, launcher)
  return outcomeOf(wall, await probeWall(launcher, surroundings, wall))
}

/** The reason does not repeat the name of the wall, beside which everybody shows it. */
export const outcomeOf = (wall: Wall, host: HostFacts): TriedWall => {
  const { landlock } = host
  if (landlock.held) return { held: true, wall, host }
  const { stage, problem } = landlock
  return { held: false, reason: stage === wall.name ? problem : `${stage}: ${problem}` }
}

type TrustedProgram =
  { readonly kind: 'found'; readonly path: string } | { readonly kind: 'refused'; readonly problem: string }

const FOLDERS = ['/usr/bin', '/bin', '/usr/local/bin']
const WRITABLE_BY_OTHERS = 0o022

/** A program of the system that only root can replace. It builds the boundary, so nobody else may choose it. */
const trustedProgram = (name: string): TrustedProgram => {
  const found = FOLDERS.map((folder) => `${folder}/${name}`).find(isExecutable)
  if (found === undefined) return { kind: 'refused', problem: `${name} is not installed (${FOLDERS.join(', ')})` }
  const path = realpathSync(found)
  const replaceable = [path, ...foldersAbove(path)].find((at) => {
    const { uid, mode } = lstatSync(at)
    return uid !== 0 || (mode & WRITABLE_BY_OTHERS) !== 0
  })
  return replaceable === undefined
    ? { kind: 'found', path }
    : { kind: 'refused', problem: `others than root can change ${replaceable}` }
}

const foldersAbove = (path: string): readonly string[] => {
  const parent = dirname(path)
  return parent === path ? [] : [parent, ...foldersAbove(parent)]
}
