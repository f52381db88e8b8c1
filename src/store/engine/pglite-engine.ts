import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'

import type { PGlite } from '@electric-sql/pglite'

import { fail } from '../../errors/index.js'

import { guardProgram } from './embedded-failure.js'
import { engineOf } from './embedded-engine.js'
import type { Engine } from '../engine.js'
import { holdFolder } from './folder-hold.js'
import { readImage, unpackImage } from './prepared-image.js'

export interface PgliteSettings {
  /** Where the data lies; one process has it open at a time. Without one it lives as long as the process. */
  readonly folder: string | undefined
}

/** What agents asked for is nobody else's business. */
const PRIVATE = 0o700

/** PostgreSQL inside this process. Loaded and started when it is first asked for something. */
export const openPglite = ({ folder }: PgliteSettings): Engine => {
  let started: Promise<PGlite> | undefined
  let release = (): void => undefined
  const begin = async (): Promise<PGlite> => {
    if (folder !== undefined) {
      requireDatabase(folder)
      mkdirSync(dirname(folder), { recursive: true, mode: PRIVATE })
      release = holdFolder(folder)
      mkdirSync(folder, { recursive: true, mode: PRIVATE })
    }
    return start(folder).catch((error: unknown) => {
      release()
      throw error
    })
  }
  const engine = engineOf(
    folder,
    () => (started ??= begin()),
    () => started,
  )
  return {
    ...engine,
    close: async () => {
      await engine.close()
      release()
    },
  }
}

/**
 * A database is not unpacked among the files of something else, such as the store folder that the command line names.
 */
const requireDatabase = (folder: string): void => {
  const names = existsSync(folder) ? readdirSync(folder) : []
  if (names.length === 0 || names.includes('PG_VERSION')) return
  throw fail('store-unavailable', {
    where: folder,
    problem:
      'there is something else in ' +
      `it${names.includes('data') ? `; the database of a store is in its folder data: ${join(folder, 'data')}` : ''}`,
  })
}

/** A quarter of the default: all of it is written to at each start, and the kernel keeps pages of the files as well. */
const SHARED_BUFFERS = ['-c', 'shared_buffers=32MB']

const start = async (folder: string | undefined): Promise<PGlite> => {
  if (folder === undefined) return startInMemory()
  const isNew = !existsSync(folder) || readdirSync(folder).length === 0
  const unpacked = isNew
    ? readImage().then((image) => (image === undefined ? undefined : unpackImage(image, folder)))
    : Promise.resolve()
  // Whether it failed is asked below, when there is something that can tell.
  unpacked.catch(() => undefined)
  const [{ PGlite: Embedded }, { NodeFS }] = await Promise.all([
    import('@electric-sql/pglite'),
    import('@electric-sql/pglite/nodefs'),
  ])
  // PGlite asks for the files when its program is loaded, which is as much work as unpacking them.
  const files = Object.assign(new NodeFS(folder), { initialSyncFs: () => unpacked })
  return guardProgram(
    await Embedded.create({ fs: files, startParams: [...Embedded.defaultStartParams, ...SHARED_BUFFERS] }),
  )
}

const startInMemory = async (): Promise<PGlite> => {
  const [{ PGlite: Embedded }, image] = await Promise.all([import('@electric-sql/pglite'), readImage()])
  return Embedded.create({
    startParams: [...Embedded.defaultStartParams, ...SHARED_BUFFERS],
    ...(image === undefined ? {} : { loadDataDir: new File([image], 'image.tar', { type: 'application/x-tar' }) }),
  })
}
