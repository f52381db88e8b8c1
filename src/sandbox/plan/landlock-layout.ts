// The same boundary as Landlock rules alone, for where no mount namespace can be had.
import type { Stats } from 'node:fs'

import { fail } from '../../errors/index.js'
import type { AbsolutePath } from '../../policy/index.js'
import { isWithinPath, parentOf } from '../../policy/index.js'

import { entriesIn } from '../grants/file-names.js'
import { BORROWED_PROC_RULES, outermost } from './layout.js'
import type { LayoutInput } from './layout.js'
import { objectAt, statusOf } from '../grants/object-at.js'
import type { Access, Plan, Rule } from './plan.js'
import type { Place } from '../grants/object-at.js'
import { quotedWord } from '../grants/quoted-word.js'

const MOST_RULES = 4_000

export interface LandlockLayout {
  readonly rules: readonly Rule[]
  readonly kept: Plan['kept']
}

/**
 * With a keeper that acts for the tool, a write root with something carved out of it needs no rules around that. Those
 * that fit are made all the same: the keeper changes no files for cells within this one.
 */
export const layOutLandlock = (input: LayoutInput, hasKeeper: boolean): LandlockLayout => {
  const { survey, system, execute, temporary } = input
  const letters = <Base extends 'r' | 'rw'>(base: Base): Base | `${Base}x` =>
    execute.kind === 'all' ? `${base}x` : base
  const hidden = survey.hidden.map(({ path }) => path)
  const sealed = [...survey.sealed, ...input.protectedPlaces].map(({ path }) => path)
  const carved = [...hidden, ...sealed]
  const writeRoots = outermost(survey.write)
  const isKept = (root: Place) =>
    hasKeeper &&
    root.object === 'directory' &&
    !carved.some((path) => isWithinPath(root.path, path)) &&
    carved.some((path) => isWithinPath(path, root.path))
  const kept = writeRoots.filter(isKept).map(({ path }) => path)
  const inKept = (paths: readonly AbsolutePath[]) =>
    [...new Set(paths)].filter((path) => kept.some((root) => isWithinPath(path, root)))
  const files = system.files.map(({ path }): Place => ({ path, object: 'file' }))
  const readRoots = outermost([...system.places, ...files, ...survey.read, ...survey.write, ...input.loaded])
  const rules: Rule[] = [
    ...readRoots.flatMap((root) => [...around(root, hidden, letters('r')), ...listing(root, survey.hidden)]),
    ...writeRoots.filter((root) => !isKept(root)).flatMap((root) => around(root, carved, letters('rw'))),
    ...(execute.kind === 'only' ? execute.files.map((path) => ({ access: 'rx' as const, path })) : []),
    ...BORROWED_PROC_RULES,
    // One right more than any write root has: that keeps others' sockets from being moved into it, see landlock.c.
    { access: `${letters('rw')}d`, path: temporary },
    ...['/dev/null', '/dev/zero', '/dev/full', '/dev/random', '/dev/urandom'].map((path) => ({
      access: 'rwd' as const,
      path: path as AbsolutePath,
    })),
    // Leads to the tool's own terminal, where it has one. By their names they are added or opened by the launcher: the
    // others in /dev/pts are other people's.
    { access: 'rwd', path: '/dev/tty' as AbsolutePath },
  ]
  const besides = writeRoots.filter(isKept).flatMap((root) => around(root, carved, letters('rw')))
  if (rules.length + besides.length <= MOST_RULES) rules.push(...besides)
  if (rules.length > MOST_RULES) {
    const folder = fullestFolder(rules)
    const problem =
      `${String(rules.length)} Landlock rules, more than ${String(MOST_RULES)}: most are for what lies in ` +
      `${folder}, beside something protected; move that to another folder, or what is protected there (ls -A ` +
      `${quotedWord(folder)})`
    throw fail('plan-rejected', { problem })
  }
  return {
    rules: rules.filter(({ path }) => path === temporary || path.startsWith('/proc/') || isThere(path)),
    kept: { roots: kept, sealed: inKept(sealed), hidden: inKept(hidden) },
  }
}

/**
 * A folder out of which single files are taken can be listed: their names are no secret in this form, and to list is
 * not to read. The right goes down the tree, so that it would also show what is in a folder that is taken out.
 */
const listing = (root: Place, hidden: readonly Place[]): readonly Rule[] => {
  const inside = hidden.filter(({ path }) => isWithinPath(path, root.path))
  return root.object === 'directory' && inside.length > 0 && inside.every(({ object }) => object === 'file')
    ? [{ access: 'l', path: root.path }]
    : []
}

/** The folder that most rules are for entries of. */
const fullestFolder = (rules: readonly Rule[]): AbsolutePath => {
  const counts = new Map<AbsolutePath, number>()
  for (const { path } of rules) counts.set(parentOf(path), (counts.get(parentOf(path)) ?? 0) + 1)
  return [...counts].reduce((most, each) => (each[1] > most[1] ? each : most))[0]
}

/** Inside another cell /dev/random, for one, is a link to what has a rule already. */
const isThere = (path: AbsolutePath): boolean => !['link', undefined].includes(objectAt(path))

/** The files among these that have several names, however they are named. */
const linkedFiles = (paths: readonly AbsolutePath[]): ReadonlySet<string> =>
  new Set(
    paths
      .map(statusOf)
      .flatMap((status) => (status?.isFile() === true && status.nlink > 1 ? [identityOf(status)] : [])),
  )

const identityOf = ({ dev, ino }: Stats): string => `${String(dev)}:${String(ino)}`

/**
 * Rules for a folder but for what is carved out of it. Landlock rules add up and cannot subtract, so
 * the folder's other entries are granted one by one; directly in the folder nothing new can be made.
 */
const around = (
  root: Place,
  carved: readonly AbsolutePath[],
  access: Access,
  linked = linkedFiles(carved),
): readonly Rule[] => {
  if (carved.some((path) => isWithinPath(root.path, path))) return []
  // A rule is on a file, whatever its name: one for another name of what is carved out would open that, too.
  const status = linked.size > 0 && root.object === 'file' ? statusOf(root.path) : undefined
  if (status !== undefined && linked.has(identityOf(status))) return []
  if (root.object === 'device') return [{ access: access.includes('w') ? 'rwd' : 'rd', path: root.path }]
  const inside = carved.filter((path) => isWithinPath(path, root.path))
  if (inside.length === 0) return [{ access, path: root.path }]
  return entriesNow(root.path).flatMap(({ name }) => {
    const path = `${root.path}/${name}` as AbsolutePath
    const object = objectAt(path)
    return object === undefined || object === 'link' ? [] : around({ path, object }, inside, access, linked)
  })
}

/**
 * A folder that somebody removed meanwhile has none; what comes in its place gets no rule, and so cannot be touched.
 */
const entriesNow = (folder: AbsolutePath): ReturnType<typeof entriesIn> => {
  try {
    return entriesIn(folder)
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return []
    throw error
  }
}
