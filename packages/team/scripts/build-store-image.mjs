// Builds the image of an embedded database with the newest schema. Unpacking it is much faster than setting one up.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'

import { PGlite } from '@electric-sql/pglite'

import { engineOf } from '../dist/store/engine/embedded-engine.js'
import { migrate, readMigrations } from '../dist/store/engine/migrate.js'

const SELF = fileURLToPath(import.meta.url)
const ROOT = dirname(dirname(SELF))
const IMAGE = join(ROOT, 'dist', 'store', 'image.tar.gz')
const { version } = JSON.parse(
  readFileSync(join(ROOT, '..', '..', 'node_modules', '@electric-sql', 'pglite', 'package.json'), 'utf8'),
)
const wanted = createHash('sha256')
  .update(JSON.stringify([version, readFileSync(SELF, 'utf8'), readMigrations().map(({ hash }) => hash)]))
  .digest('hex')
const mark = `${IMAGE}.sha256`

/** Write-ahead log files of 1 MB: a new database needs one, and up to 64 are kept. */
const INITDB = ['--wal-segsize=1']

/** Template databases are two thirds of all files, and are not needed. */
const WITHOUT_TEMPLATES = [
  'update pg_database set datistemplate = false',
  'drop database template0',
  'drop database template1',
]

/** Closed cleanly, so that opening it needs no recovery. */
const makeDatabase = async (folder) => {
  const database = await PGlite.create({ dataDir: folder, initDbStartParams: INITDB })
  await migrate(
    engineOf(
      folder,
      () => Promise.resolve(database),
      () => Promise.resolve(database),
    ),
  )
  for (const statement of WITHOUT_TEMPLATES) await database.exec(statement)
  // Starts a new log file, so that only this one is needed.
  await database.query('select pg_switch_wal()')
  await database.exec('checkpoint')
  const [{ log }] = (await database.query('select pg_walfile_name(pg_current_wal_insert_lsn()) as log')).rows
  await database.close()
  return { log }
}

/** Only the last file of the log is needed. */
const isNeeded = (name, log) => !/^pg_wal\/[0-9A-F]{24}$/.test(name) || name === `pg_wal/${log}`

const walk = (folder, prefix = '') =>
  readdirSync(join(folder, prefix), { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) =>
      entry.isDirectory()
        ? [{ name: `${prefix}${entry.name}`, isFolder: true }, ...walk(folder, `${prefix}${entry.name}/`)]
        : [{ name: `${prefix}${entry.name}`, isFolder: false }],
    )

/** `ustar`, as src/store/engine/prepared-image.ts and PGlite read it. */
const pack = (folder, entries) => {
  const octal = (value, length) => value.toString(8).padStart(length - 1, '0') + '\0'
  const blocks = entries.flatMap(({ name, isFolder }) => {
    if (name.length > 99) throw new Error(`the name is too long for the archive: ${name}`)
    const content = isFolder ? Buffer.alloc(0) : readFileSync(join(folder, name))
    const head = Buffer.alloc(512)
    const put = (text, at) => head.write(text, at, 'latin1')
    put(name, 0)
    put(octal(isFolder ? 0o700 : 0o600, 8) + octal(0, 8) + octal(0, 8) + octal(content.length, 12) + octal(0, 12), 100)
    put(' '.repeat(8), 148)
    put(isFolder ? '5' : '0', 156)
    put('ustar\x0000', 257)
    put(
      octal(
        head.reduce((sum, byte) => sum + byte, 0),
        7,
      ) + ' ',
      148,
    )
    return [head, content, Buffer.alloc((512 - (content.length % 512)) % 512)]
  })
  return Buffer.concat([...blocks, Buffer.alloc(1024)])
}

if (existsSync(IMAGE) && existsSync(mark) && readFileSync(mark, 'utf8') === wanted) {
  console.log('build-store-image: is up to date')
} else {
  const folder = mkdtempSync(join(tmpdir(), 'cordon-image-'))
  try {
    const { log } = await makeDatabase(folder)
    const entries = walk(folder).filter(({ name }) => isNeeded(name, log))
    const image = gzipSync(pack(folder, entries), { level: 9 })
    mkdirSync(dirname(IMAGE), { recursive: true })
    writeFileSync(IMAGE, image)
    writeFileSync(mark, wanted)
    console.log(`build-store-image: ${String(entries.length)} files, ${String(Math.round(image.length / 1024))} KiB`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
