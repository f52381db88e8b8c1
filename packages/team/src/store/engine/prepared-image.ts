// A database with the newest schema, made by the build (scripts/build-store-image.mjs). Unpacking it is much faster
// than setting one up.
import { mkdirSync, readFile, renameSync, rmSync, writeFile } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { codeOf } from 'cordon/errors'
import { packageFolderOf } from 'cordon/runtime'

const IMAGE = join(packageFolderOf(import.meta.url), 'dist', 'store', 'image.tar.gz')

/** Calls of agents are private. */
const PRIVATE_FOLDER = 0o700
const PRIVATE_FILE = 0o600

/** As many as Node has threads. */
const AT_ONCE = 4

/** With the default of 16 KB it takes four times as long. */
const STEP = { chunkSize: 2 ** 22 }

const BLOCK = 512

/** The archive, or undefined where there was no build. */
export const readImage = async (): Promise<Buffer | undefined> => {
  try {
    return await promisify<Buffer, typeof STEP, Buffer>(gunzip)(await promisify(readFile)(IMAGE), STEP)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

/** Unpacks everything or nothing, because the process can end at any moment. The folder is missing or empty. */
export const unpackImage = async (image: Buffer, folder: string): Promise<void> => {
  const unfinished = `${folder}.new`
  rmSync(unfinished, { recursive: true, force: true })
  mkdirSync(unfinished, { mode: PRIVATE_FOLDER })
  const entries = entriesOf(image)
  for (const { name, kind } of entries)
    if (kind === 'folder') mkdirSync(join(unfinished, name), { mode: PRIVATE_FOLDER })
  const files = entries.filter(({ kind }) => kind === 'file').values()
  const write = promisify(writeFile)
  // On threads of Node, while this one loads PGlite.
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

/** The build writes plain `ustar`: names below a hundred bytes, folders before their contents. */
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
