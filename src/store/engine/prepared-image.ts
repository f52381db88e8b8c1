// A database with the newest schema in it, made by the build (scripts/build-store-image.mjs) and closed cleanly: to set
// one up takes seconds, to unpack one a fraction of that.
import { mkdirSync, readFile, renameSync, rmSync, writeFile } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'

const IMAGE = fileURLToPath(new URL('../../../dist/store/image.tar.gz', import.meta.url))

/** What agents asked for is nobody else's business. */
const PRIVATE_FOLDER = 0o700
const PRIVATE_FILE = 0o600

/** As many as Node has threads for: more would only wait. */
const AT_ONCE = 4

/** Unpacked in few steps: in steps of 16 KB, which Node takes otherwise, it takes four times as long. */
const STEP = { chunkSize: 2 ** 22 }

const BLOCK = 512

/** The archive, or undefined where there was no build. */
export const readImage = async (path = IMAGE): Promise<Buffer | undefined> => {
  try {
    return await promisify<Buffer, typeof STEP, Buffer>(gunzip)(await promisify(readFile)(path), STEP)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

/** All of it or nothing of it is in the folder, which is not there yet or empty: a process can end at any moment. */
export const unpackImage = async (image: Buffer, folder: string): Promise<void> => {
  const unfinished = `${folder}.new`
  rmSync(unfinished, { recursive: true, force: true })
  mkdirSync(unfinished, { mode: PRIVATE_FOLDER })
  const entries = entriesOf(image)
  for (const { name, kind } of entries)
    if (kind === 'folder') mkdirSync(join(unfinished, name), { mode: PRIVATE_FOLDER })
  const files = entries.filter(({ kind }) => kind === 'file').values()
  const write = promisify(writeFile)
  // By threads of Node, while this one loads the database itself.
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const { name, content } of files)
        await write(join(unfinished, name), content, { mode: PRIVATE_FILE, flag: 'wx' })
    }),
  )
  renameSync(unfinished, folder)
}

interface Entry {
  readonly name: string
  readonly kind: 'file' | 'folder'
  readonly content: Buffer
}

/**
 * Of an archive as the build writes it: plain `ustar`, names of less than a hundred bytes, folders before what is in
 * them.
 */
const entriesOf = (archive: Buffer): readonly Entry[] => {
  const entries: Entry[] = []
  const wordAt = (from: number, length: number): string =>
    archive.toString('latin1', from, from + length).split('\0', 1)[0] ?? ''
  for (let at = 0; at < archive.length && archive[at] !== 0;) {
    const size = Number.parseInt(wordAt(at + 124, 12), 8)
    const begin = at + BLOCK
    entries.push({
      name: wordAt(at, 100),
      kind: wordAt(at + 156, 1) === '5' ? 'folder' : 'file',
      content: archive.subarray(begin, begin + size),
    })
    at = begin + Math.ceil(size / BLOCK) * BLOCK
  }
  return entries
}
