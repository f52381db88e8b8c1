// The embedded database with the newest schema in it, made once: to set one up takes seconds, to unpack one a fraction of that.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { PGlite } from '@electric-sql/pglite'

import { engineOf } from '../dist/store/pglite-engine.js'
import { migrate, readMigrations } from '../dist/store/migrate.js'

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)))
const IMAGE = join(ROOT, 'dist', 'store', 'image.tar.gz')
const { version } = JSON.parse(readFileSync(join(ROOT, 'node_modules', '@electric-sql', 'pglite', 'package.json'), 'utf8'))
const wanted = createHash('sha256').update(JSON.stringify([version, readMigrations().map(({ hash }) => hash)])).digest('hex')
const mark = `${IMAGE}.sha256`

if (existsSync(IMAGE) && existsSync(mark) && readFileSync(mark, 'utf8') === wanted) {
  console.log('build-store-image: is up to date')
} else {
  const database = await PGlite.create()
  const engine = engineOf('memory', () => Promise.resolve(database), () => Promise.resolve(database))
  await migrate(engine)
  const image = await database.dumpDataDir('gzip')
  mkdirSync(dirname(IMAGE), { recursive: true })
  writeFileSync(IMAGE, Buffer.from(await image.arrayBuffer()))
  writeFileSync(mark, wanted)
  await engine.close()
  console.log(`build-store-image: ${String(Math.round(image.size / 1024))} KiB`)
}
