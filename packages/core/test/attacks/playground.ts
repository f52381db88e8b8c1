// One folder for everything that a test creates, removed afterwards.
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  accessSync,
  chmodSync,
  constants,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

import { afterAll, afterEach } from 'vitest'

/** The word that a leak is recognised by. */
export const SECRET = 'SECRET'

export interface Playground {
  readonly root: string
  /** The tool's write root. */
  readonly inside: string
  /** Not granted, unless a test says so. */
  readonly outside: string
  /** Writes a file, with the folders it needs, and returns its path. */
  readonly file: (name: string, content?: string, mode?: number) => string
  readonly folder: (name: string) => string
}

// Not /tmp: a cell has a /tmp of its own, where writing to a path that is somebody's on the host is allowed and
// harmless.
const base = (): string => {
  try {
    accessSync('/var/tmp', constants.W_OK)
    return '/var/tmp'
  } catch {
    return tmpdir()
  }
}

const removals: string[] = []

/** A folder that lives until the end of the test file. */
export const lastingFolder = (parent: string = base()): string => {
  const folder = mkdtempSync(join(parent, 'cordon-attack-'))
  afterAll(() => {
    remove(folder)
  })
  return folder
}

export const playground = (parent: string = base()): Playground => {
  // A short name: the path of a Unix socket has 107 bytes at most.
  const root = mkdtempSync(join(parent, 'cda-'))
  removals.push(root)
  const folder = (name: string): string => {
    const path = join(root, name)
    mkdirSync(path, { recursive: true })
    return path
  }
  const file = (name: string, content = `${SECRET} of ${name}\n`, mode = 0o600): string => {
    const path = join(root, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, content, { mode })
    chmodSync(path, mode)
    return path
  }
  return { root, inside: folder('inside'), outside: folder('outside'), file, folder }
}

afterEach(() => {
  for (const folder of removals.splice(0)) remove(folder)
})

/** A test may have closed a folder to its own user, or made very many. */
const remove = (folder: string): void => {
  if (spawnSync('rm', ['-rf', folder], { stdio: 'ignore' }).status === 0) return
  execFileSync('chmod', ['-R', 'u+rwX', folder])
  execFileSync('rm', ['-rf', folder])
}

/** Everything about a tree that an attack could change, one line per object. */
export const snapshot = (path: string, name = '.'): readonly string[] => {
  const facts = lstatSync(path, { throwIfNoEntry: false })
  if (facts === undefined) return [`${name} missing`]
  const content = facts.isFile()
    ? createHash('sha256').update(readFileSync(path)).digest('hex').slice(0, 12)
    : facts.isSymbolicLink()
      ? readlinkSync(path)
      : ''
  const times = facts.isDirectory() ? '' : `mtime ${facts.mtimeMs}`
  const line =
    `${name} mode ${facts.mode.toString(8)} owner ${facts.uid}:${facts.gid} inode ${facts.ino} links ` +
    `${facts.isDirectory() ? 0 : facts.nlink} ${times} ${content}`
  return facts.isDirectory()
    ? [
        line,
        ...readdirSync(path)
          .sort()
          .flatMap((entry) => snapshot(join(path, entry), `${name}/${entry}`)),
      ]
    : [line]
}
