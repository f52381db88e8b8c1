import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

import { afterAll, beforeAll, expect, test } from 'vitest'

import { migrate, openPglite } from '../../src/store/index.js'
import type { Engine } from '../../src/store/index.js'
import { readImage, unpackImage } from '../../src/store/engine/prepared-image.js'

const home = mkdtempSync(join(tmpdir(), 'cordon-image-'))
afterAll(() => {
  rmSync(home, { recursive: true, force: true })
})
let image: Buffer
beforeAll(async () => {
  image = (await readImage()) ?? Buffer.alloc(0)
})
const MODULE = pathToFileURL(join(import.meta.dirname, '..', '..', 'dist', 'store', 'index.js')).href

const withEngine = async <Result>(folder: string, work: (engine: Engine) => Promise<Result>): Promise<Result> => {
  const engine = openPglite({ folder })
  try {
    return await work(engine)
  } finally {
    await engine.close()
  }
}

test('a new folder has the newest schema, for its owner only, and can be opened again', async () => {
  const folder = join(home, 'new')
  expect(await withEngine(folder, (engine) => migrate(engine))).toEqual([])
  expect(statSync(folder).mode & 0o777).toBe(0o700)
  expect(statSync(join(folder, 'PG_VERSION')).mode & 0o777).toBe(0o600)
  expect(
    await withEngine(folder, (engine) => engine.query('select count(*)::int as count from cordon_migrations.applied')),
  ).not.toEqual([{ count: 0 }])
})

test('a database never mixes with other files: a store folder has it in a subfolder', async () => {
  const folder = join(home, 'store')
  mkdirSync(join(folder, 'data'), { recursive: true })
  await expect(withEngine(folder, (engine) => migrate(engine))).rejects.toMatchObject({
    code: 'store-unavailable',
    message: expect.stringContaining(`in its folder data: ${join(folder, 'data')}`) as string,
  })
  expect(existsSync(join(folder, 'PG_VERSION'))).toBe(false)
})

test('an incomplete unpacking is not a database, and is repeated', async () => {
  const folder = join(home, 'cut')
  mkdirSync(folder)
  mkdirSync(`${folder}.new`)
  writeFileSync(join(`${folder}.new`, 'PG_VERSION'), '18\n')
  expect(await withEngine(folder, (engine) => migrate(engine))).toEqual([])
  expect(existsSync(`${folder}.new`)).toBe(false)
})

test('a folder with content stays unchanged', async () => {
  const folder = join(home, 'full')
  mkdirSync(folder)
  writeFileSync(join(folder, 'mine'), 'mine')
  await expect(unpackImage(image, folder)).rejects.toThrow(/ENOTEMPTY|EEXIST/)
  expect(existsSync(join(folder, 'PG_VERSION'))).toBe(false)
})

test('a failed unpacking is reported as the error', async () => {
  await expect(unpackImage(image, join(home, 'missing', 'folder'))).rejects.toThrow(/ENOENT/)
})

test('committed data survives a kill, in a new folder and in a recovered one', async () => {
  const folder = join(home, 'killed')
  const commit = (name: string) => `
    import { openPglite } from ${JSON.stringify(MODULE)}
    const engine = openPglite({ folder: ${JSON.stringify(folder)} })
    await engine.execute('create table if not exists kept (name text)')
    await engine.query('insert into kept values ($1)', ['${name}'])
    process.kill(process.pid, 'SIGKILL')`
  for (const name of ['first', 'second'])
    expect(spawnSync(process.execPath, ['--input-type=module', '-e', commit(name)], { encoding: 'utf8' }).signal).toBe(
      'SIGKILL',
    )
  expect(await withEngine(folder, (engine) => engine.query('select name from kept order by name'))).toEqual([
    { name: 'first' },
    { name: 'second' },
  ])
})
