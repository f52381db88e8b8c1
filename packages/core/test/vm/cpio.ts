// Writes the archive that a kernel unpacks as its first file system ("newc", see the kernel's
// initramfs-buffer-format).
import { lstatSync, readFileSync, readdirSync, readlinkSync, realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

export interface Archive {
  readonly folder: (path: string) => void
  readonly text: (path: string, content: string) => void
  /**
   * A file of this machine; links in the folders above it are followed, a link itself is kept together with what it
   * leads to.
   */
  readonly file: (from: string, to?: string) => void
  /** A folder of this machine with all that is in it. */
  readonly tree: (from: string, to: string) => void
  /** A link that this machine has at the same path, if it has one. */
  readonly sameLink: (path: string) => void
  readonly bytes: () => Buffer
}

const FOLDER = 0o040755
const FILE = 0o100000
const LINK = 0o120777

export const createArchive = (): Archive => {
  const parts: Buffer[] = []
  const known = new Set<string>(['/'])

  const put = (path: string, mode: number, content: Buffer = Buffer.alloc(0)): void => {
    if (known.has(path)) return
    known.add(path)
    const name = Buffer.from(`${path.replace(/^\//, '')}\0`)
    const numbers = [known.size, mode, 0, 0, 1, 0, content.length, 0, 0, 0, 0, name.length, 0]
    const header = Buffer.from(`070701${numbers.map((number) => number.toString(16).padStart(8, '0')).join('')}`)
    parts.push(header, name, padding(header.length + name.length), content, padding(content.length))
  }
  const folder = (path: string): void => {
    if (known.has(path)) return
    folder(dirname(path))
    put(path, FOLDER)
  }
  const putBelow = (path: string, mode: number, content: Buffer): void => {
    folder(dirname(path))
    put(path, mode, content)
  }
  const file = (from: string, to?: string): void => {
    const path = to ?? join(realpathSync(dirname(from)), basename(from))
    const facts = lstatSync(from)
    if (!facts.isSymbolicLink()) {
      putBelow(path, FILE | (facts.mode & 0o777), readFileSync(from))
    } else if (to === undefined) {
      putBelow(path, LINK, Buffer.from(readlinkSync(from)))
      file(realpathSync(from))
    } else {
      file(realpathSync(from), to)
    }
  }
  const tree = (from: string, to: string): void => {
    for (const entry of readdirSync(from, { withFileTypes: true })) {
      if (entry.isDirectory()) tree(join(from, entry.name), join(to, entry.name))
      else file(join(from, entry.name), join(to, entry.name))
    }
  }
  return {
    folder,
    text: (path, content) => {
      putBelow(path, FILE | 0o644, Buffer.from(content))
    },
    file,
    tree,
    sameLink: (path) => {
      if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true)
        put(path, LINK, Buffer.from(readlinkSync(path)))
    },
    bytes: () => {
      put('/TRAILER!!!', 0)
      return Buffer.concat(parts)
    },
  }
}

const padding = (length: number): Buffer => Buffer.alloc((4 - (length % 4)) % 4)
