// The boundary as Landlock rules alone, for hosts that refuse mount namespaces.
import type { Stats } from 'node:fs'

import { codeOf, fail } from '../../errors/index.js'
import { quotedWord } from '../../platform/index.js'
import type { AbsolutePath } from '../../policy/index.js'
import { isWithinPath, parentOf } from '../../policy/index.js'

import { entriesIn } from '../grants/file-names.js'
import { BORROWED_PROC_RULES, WRITABLE_DEVICES, accessFor, outermost, rule, ruleFor } from './layout.js'
import type { LayoutInput } from './layout.js'
import { realObjectAt, statusOf } from '../grants/object-at.js'
import type { RealObject } from '../grants/object-at.js'
import type { Access, Plan, Rule } from './plan.js'

/** One right more than any write root has, so that others' sockets cannot be moved into it, see landlock.c. */
export const privateRule = ({ execute }: LayoutInput, temporary: AbsolutePath): Rule =>
  rule(`${accessFor('rw', execute)}d`, temporary)

const MOST_RULES = 4_000

/**
 * With a keeper that acts for the tool, a write root needs no rules around its carve-outs. Rules that fit are made all
 * the same: the keeper changes no files for cells inside this one.
 */
export const layOutLandlock = (input: LayoutInput, hasKeeper: boolean): Pick<Plan, 'rules' | 'kept'> => {
  const { survey, system, execute, temporary } = input
  const [toRead, toWrite] = [accessFor('r', execute), accessFor('rw', execute)]
  const hidden = survey.hidden.map(({ path }) => path)
  // Without mounts the keeper holds a link by its name too.
  const sealed = [...survey.sealed.map(({ path }) => path), ...survey.carvedLinks]
  const carved = [...hidden, ...sealed]
  const writeRoots = outermost(survey.write)
  const isKept = (root: RealObject) =>
    hasKeeper &&
    root.object === 'directory' &&
    !carved.some((path) => isWithinPath(root.path, path)) &&
    carved.some((path) => isWithinPath(path, root.path))
  const kept = writeRoots.filter(isKept).map(({ path }) => path)
  const inKept = (paths: readonly AbsolutePath[]) =>
    [...new Set(paths)].filter((path) => kept.some((root) => isWithinPath(path, root)))
  const files = system.files.map(({ path }): RealObject => ({ path, object: 'file' }))
  const readRoots = outermost([...system.places, ...files, ...survey.read, ...survey.write, ...input.loaded])
  const rules: Rule[] = [
    ...readRoots.flatMap((root) => [...around(root, hidden, toRead), ...listing(root, survey.hidden)]),
    ...writeRoots.filter((root) => !isKept(root)).flatMap((root) => around(root, carved, toWrite)),
    ...(execute.kind === 'only' ? execute.files.map((path) => rule('rx', path)) : []),
    ...BORROWED_PROC_RULES,
    privateRule(input, temporary),
    // The launcher adds the tool's own terminal by its name: the others in /dev/pts belong to other users.
    ...WRITABLE_DEVICES.map((device) => rule('rwd', device)),
  ]
  const besides = writeRoots.filter(isKept).flatMap((root) => around(root, carved, toWrite))
  if (rules.length + besides.length <= MOST_RULES) rules.push(...besides)
  if (rules.length > MOST_RULES) {
    const folder = fullestFolder(rules)
    const problem =
      `${rules.length} Landlock rules, more than ${MOST_RULES}: most are for what lies in ` +
      `${folder}, beside something protected; move that to another folder, or what is protected there (ls -A ` +
      `${quotedWord(folder)})`
    throw fail('plan-rejected', { problem })
  }
  return {
    // Inside another cell /dev/random, for one, is a link to a file that has a rule already.
    rules: rules.filter(({ path }) => path === temporary || path.startsWith('/proc/') || realObjectAt(path).length > 0),
    kept: { roots: kept, sealed: inKept(sealed), hidden: inKept(hidden) },
  }
}

/**
 * A folder with hidden files can be listed: in this form names are no secret. With a hidden folder it cannot, because
 * the right to list would apply there too.
 */
const listing = (root: RealObject, hidden: readonly RealObject[]): readonly Rule[] => {
  const inside = hidden.filter(({ path }) => isWithinPath(path, root.path))
  return root.object === 'directory' && inside.length > 0 && inside.every(({ object }) => object === 'file')
    ? [rule('l', root.path)]
    : []
}

const fullestFolder = (rules: readonly Rule[]): AbsolutePath => {
  const counts = new Map<AbsolutePath, number>()
  for (const { path } of rules) counts.set(parentOf(path), (counts.get(parentOf(path)) ?? 0) + 1)
  return [...counts].reduce((most, each) => (each[1] > most[1] ? each : most))[0]
}

const linkedFiles = (paths: readonly AbsolutePath[]): ReadonlySet<string> =>
  new Set(
    paths
      .map(statusOf)
      .flatMap((status) => (status?.isFile() === true && status.nlink > 1 ? [identityOf(status)] : [])),
  )

const identityOf = ({ dev, ino }: Stats): string => `${dev}:${ino}`

/**
 * Rules for a folder without its carve-outs. Landlock rules cannot subtract, so the other entries are granted one by
 * one, and nothing new can be made directly in the folder.
 */
const around = (
  root: RealObject,
  carved: readonly AbsolutePath[],
  access: Access,
  linked = linkedFiles(carved),
): readonly Rule[] => {
  if (carved.some((path) => isWithinPath(root.path, path))) return []
  // A rule is on a file, not on its name: a rule for another name of a carved-out file would open that file.
  const status = linked.size > 0 && root.object === 'file' ? statusOf(root.path) : undefined
  if (status !== undefined && linked.has(identityOf(status))) return []
  const inside = carved.filter((path) => isWithinPath(path, root.path))
  if (root.object === 'device' || inside.length === 0) return [ruleFor(root, access)]
  return entriesNow(root.path)
    .flatMap(({ name }) => realObjectAt(`${root.path}/${name}` as AbsolutePath))
    .flatMap((place) => around(place, inside, access, linked))
}

/** A folder that was removed meanwhile has no entries. A new one in its place gets no rule. */
const entriesNow = (folder: AbsolutePath): ReturnType<typeof entriesIn> => {
  try {
    return entriesIn(folder)
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(codeOf(error) ?? '')) return []
    throw error
  }
}

/**
 * With Landlock alone: the folders of write roots in which nothing can be made, renamed or removed. Its rules cannot
 * subtract, so a folder with a carve-out beneath it is granted entry by entry, and not itself.
 */
export const closedFolders = (
  writeRoots: readonly RealObject[],
  carved: readonly AbsolutePath[],
): readonly AbsolutePath[] => {
  const closed = new Set<AbsolutePath>()
  for (const root of writeRoots) {
    if (carved.some((path) => isWithinPath(root.path, path))) continue
    for (const path of carved.filter((each) => isWithinPath(each, root.path))) {
      for (let folder = parentOf(path); isWithinPath(folder, root.path); folder = parentOf(folder)) closed.add(folder)
    }
  }
  return [...closed].sort()
}
