// The embedded database: PGlite in a folder or in memory.
import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { PGlite } from '@electric-sql/pglite'
import { messageOf } from 'cordon/errors'
import { tryLock } from 'cordon/runtime'

import { fail } from '../../errors/errors.js'
import type { Engine } from '../engine.js'
import { engineOf, guardProgram } from './embedded-engine.js'
import { readImage, unpackImage } from './prepared-image.js'

export interface PgliteSettings {
  /** The data, which one process can open at a time. Undefined: in memory. */
  readonly folder: string | undefined
}

/** Calls of agents are private. */
const PRIVATE = 0o700

/** PostgreSQL inside this process. It starts with the first query. */
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

/** Refuses a folder with other files, such as the store folder that the command line names. */
const requireDatabase = (folder: string): void => {
  const names = existsSync(folder) ? readdirSync(folder) : []
  if (names.length === 0 || names.includes('PG_VERSION')) return
  throw fail('store-unavailable', {
    where: folder,
    problem:
      'it has other files' +
      (names.includes('data') ? `; the database of a store is in its folder data: ${join(folder, 'data')}` : ''),
  })
}

const SETTINGS = [
  // A quarter of the default, because each start writes to all of it. The kernel caches the files too.
  ...['-c', 'shared_buffers=32MB'],
  // The timer of this message would keep the process alive after a start that failed.
  ...['-c', 'log_startup_progress_interval=0'],
]

const start = async (folder: string | undefined): Promise<PGlite> => {
  if (folder === undefined) return startInMemory()
  const isNew = !existsSync(folder) || readdirSync(folder).length === 0
  const unpacked = isNew
    ? readImage().then((image) => (image === undefined ? undefined : unpackImage(image, folder)))
    : Promise.resolve()
  // Its error is handled below, by initialSyncFs.
  unpacked.catch(() => undefined)
  const [{ PGlite: Embedded }, { NodeFS }] = await Promise.all([
    import('@electric-sql/pglite'),
    import('@electric-sql/pglite/nodefs'),
  ])
  // PGlite loads its program while the files are unpacked.
  const files = Object.assign(new NodeFS(folder), { initialSyncFs: () => unpacked })
  return guardProgram(await Embedded.create({ fs: files, startParams: [...Embedded.defaultStartParams, ...SETTINGS] }))
}

const startInMemory = async (): Promise<PGlite> => {
  const [{ PGlite: Embedded }, image] = await Promise.all([import('@electric-sql/pglite'), readImage()])
  return Embedded.create({
    startParams: [...Embedded.defaultStartParams, ...SETTINGS],
    ...(image === undefined ? {} : { loadDataDir: new File([image], 'image.tar', { type: 'application/x-tar' }) }),
  })
}

/** One process at a time opens the folder: holds it until the returned function is called. */
export const holdFolder = (folder: string): (() => void) => {
  const lock = lockOf(`${folder}.hold`)
  if (lock.kind === 'taken') return lock.release
  const { name, owner } = lock
  throw fail('store-held', {
    folder,
    name,
    owner: /^\d+:/.test(owner) ? `process ${owner.split(':')[0] ?? ''}` : owner,
  })
}

const lockOf = (name: string): ReturnType<typeof tryLock> => {
  try {
    return tryLock(name)
  } catch (error) {
    throw fail('store-unavailable', { where: name, problem: messageOf(error) }, error)
  }
}
