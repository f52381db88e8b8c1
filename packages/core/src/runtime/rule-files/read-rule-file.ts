// Reads one rule file, if only the owner of its source could have written it. Otherwise it is an error: the file may
// contain a deny rule that must not get lost.
import { closeSync, constants, fstatSync } from 'node:fs'
import type { Stats } from 'node:fs'
import { isAbsolute, join } from 'node:path'

import { lstatSync, openSync, readFileSync, readdirSync } from '../../platform/index.js'
import { CordonError, codeOf, fail, reasonOf } from '../../errors/index.js'
import type { RuleSource } from '../../gate/index.js'

/** Who may write the files of a source. */
export interface Trust {
  /** User ids, or `anybody` for a file that the user named. */
  readonly owners: readonly number[] | 'anybody'
  /** Bits that must not be set in the mode of files and folders. */
  readonly closedTo: number
  /** A link could lead out of the folder. */
  readonly links: 'followed' | 'refused'
}

const GROUP_WRITES = 0o020
const OTHERS_WRITE = 0o002
const MAX_BYTES = 4 * 1024 * 1024
const ROOT = 0

/** `owner` owns the folder of the source. */
export const trustOf = (source: RuleSource, user: number, owner: number): Trust => {
  switch (source) {
    case 'managed':
      return { owners: [owner], closedTo: GROUP_WRITES | OTHERS_WRITE, links: 'refused' }
    case 'project':
      // A checkout may be shared with a group, and root may work in a user's checkout.
      return { owners: [user, ROOT, owner], closedTo: OTHERS_WRITE, links: 'refused' }
    case 'user':
      // People link their settings to other folders.
      return { owners: [user, ROOT], closedTo: GROUP_WRITES | OTHERS_WRITE, links: 'followed' }
    case 'bundled':
    case 'session':
    case 'command_line':
      return { owners: 'anybody', closedTo: 0, links: 'followed' }
  }
}

const ENDING = /\.(?:ya?ml|json)$/
const NAMES = ['rules.yaml', 'rules.yml', 'rules.json']

/** The rule files of a folder: `rules.yaml`, and all in `rules/`, by their names. */
export const ruleFilesIn = (folder: string, trust: Trust): readonly string[] => {
  if (!isFolder(folder, trust)) return []
  const more = join(folder, 'rules')
  return [
    ...NAMES.map((name) => join(folder, name)).filter((path) => lstatOf(path) !== undefined),
    ...documentsIn(more, trust),
  ]
}

/** All documents that lie directly in a folder, by their names. */
export const documentsIn = (folder: string, trust: Trust): readonly string[] =>
  isFolder(folder, trust)
    ? namesIn(folder)
        .filter((name) => ENDING.test(name))
        .map((name) => join(folder, name))
    : []

const isFolder = (path: string, trust: Trust): boolean => {
  const found = lstatOf(path)
  if (found === undefined) return false
  if (found.isSymbolicLink() && trust.links === 'refused') throw unsafe(path, 'it is a link', LINK_FIX)
  if (!found.isDirectory() && !found.isSymbolicLink()) return false
  if (found.isDirectory()) checkOwner(path, found, trust)
  return true
}

const namesIn = (folder: string): readonly string[] => {
  try {
    return readdirSync(folder).toSorted()
  } catch (cause) {
    throw unreadable(folder, cause)
  }
}

export const readRuleFile = (path: string, trust: Trust): string => {
  let descriptor: number | undefined
  try {
    // O_NONBLOCK: opening a pipe would wait for a writer.
    descriptor = openSync(
      path,
      constants.O_RDONLY | constants.O_NONBLOCK | (trust.links === 'refused' ? constants.O_NOFOLLOW : 0),
    )
    const found = fstatSync(descriptor)
    if (!found.isFile()) throw unsafe(path, 'it is no ordinary file', `see what it is: ls -ld ${path}`)
    checkOwner(path, found, trust)
    if (found.size > MAX_BYTES)
      throw unsafe(path, `it has more than ${MAX_BYTES / 1024 / 1024} MiB`, 'split it into several files in rules/')
    return readFileSync(descriptor, 'utf8')
  } catch (cause) {
    if (cause instanceof CordonError) throw cause
    if (codeOf(cause) === 'ELOOP' && trust.links === 'refused') throw unsafe(path, 'it is a link', LINK_FIX, cause)
    throw unreadable(path, cause)
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

const checkOwner = (path: string, { uid, mode }: Stats, { owners, closedTo }: Trust): void => {
  if (owners !== 'anybody' && !owners.includes(uid))
    throw unsafe(
      path,
      `it belongs to the user ${uid}`,
      `chown ${owners[0] ?? ROOT} ${path}, if you trust what is in it`,
    )
  if ((mode & closedTo & OTHERS_WRITE) !== 0) throw unsafe(path, 'every user can write to it', closing(path, closedTo))
  if ((mode & closedTo & GROUP_WRITES) !== 0) throw unsafe(path, 'its group can write to it', closing(path, closedTo))
}

const lstatOf = (path: string): Stats | undefined => {
  try {
    return lstatSync(path)
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT' || codeOf(cause) === 'ENOTDIR') return undefined
    // It exists and may not be read: its rules must not be skipped.
    throw unreadable(path, cause)
  }
}

const LINK_FIX = 'put the file itself there'

const closing = (path: string, closedTo: number): string =>
  `read it, then: chmod ${(closedTo & GROUP_WRITES) === 0 ? 'o-w' : 'go-w'} ${path}`

const unsafe = (path: string, problem: string, fix: string, cause?: unknown): CordonError =>
  fail('rules-unsafe', { path, problem, fix }, cause)

const unreadable = (path: string, cause: unknown): CordonError => {
  const isMissing = codeOf(cause) === 'ENOENT'
  const problem = isMissing ? 'there is no such file' : reasonOf(cause)
  const fix = !isMissing
    ? 'make it readable, or remove it'
    : isAbsolute(path)
      ? 'name a file that exists'
      : `name a file that exists; relative paths start at ${process.cwd()}`
  return fail('rules-unreadable', { path, problem, fix }, cause)
}

/** The text of a rule file of the user. Undefined if it does not exist. */
export const userRulesIn = (path: string): string | undefined => {
  try {
    return readRuleFile(path, trustOf('user', process.geteuid?.() ?? 0, 0))
  } catch (error) {
    if (error instanceof CordonError && error.code === 'rules-unreadable' && codeOf(error.cause) === 'ENOENT')
      return undefined
    throw error
  }
}
