// A full disk is reported as such, and committed data is there when there is room again.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

import { expect, test } from 'vitest'

import { embeddedFailure } from '../../src/store/engine/embedded-engine.js'
import { ENDS_WHAT_HANGS_MS } from '../../../../test/hanging.js'

const STORE = pathToFileURL(join(import.meta.dirname, '..', '..', 'dist', 'store', 'index.js')).href

/**
 * In a folder of 40 MB: full in the middle of a transaction, and full when it is opened; between them and after them
 * there is room.
 */
const PROGRAM = `
import { rmSync, writeFileSync } from 'node:fs'
import { openPglite, migrate } from ${JSON.stringify(STORE)}
const said = async (name, work) => console.log(name, await work().then((value) => value ?? 'done', (error) => error.code ?? error.message))
const fill = (bytes) => { try { writeFileSync('fill', Buffer.alloc(bytes)) } catch {} }
const opened = () => openPglite({ folder: process.cwd() + '/data' })
let engine = opened()
await migrate(engine)
await engine.execute('create table big (t text)')
fill(14e6)
const insert = () => engine.transaction(({ query }) => query('insert into big select repeat(md5(random()::text), 60) from generate_series(1, 400)').then(() => undefined))
for (let count = 0, full = false; count < 100 && !full; count += 1) await insert().catch((error) => { full = true; console.log('written', error.code) })
await said('again', () => insert())
await engine.close()
fill(40e6)
engine = opened()
await said('opened', () => engine.execute('select 1'))
await engine.close()
rmSync('fill')
engine = opened()
await said('with room', async () => { await insert(); return (await engine.query('select count(*) > 400 as kept from big'))[0].kept })
await engine.close()
`

test('a full disk is an error, never a stack trace, does not keep the process alive, and with room the store works again', () => {
  const folder = mkdtempSync(join(tmpdir(), 'cordon-full-'))
  try {
    const inside = 'mount -t tmpfs -o size=40m tmpfs "$0" && cd "$0" && exec "$1" --input-type=module -e "$2"'
    const { stdout, stderr } = spawnSync(
      'unshare',
      [
        '--mount',
        ...(process.getuid?.() === 0 ? [] : ['--map-root-user']),
        'sh',
        '-c',
        inside,
        folder,
        process.execPath,
        PROGRAM,
      ],
      { encoding: 'utf8', timeout: ENDS_WHAT_HANGS_MS },
    )
    expect(stderr).not.toMatch(/wasm|RuntimeError|at async/)
    // Whether it can be opened depends on what it has to write for that.
    expect(stdout).toMatch(/^written store-full\nagain store-full\nopened (?:store-full|done)\nwith room true\n$/)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test(
  'a program that ends by itself on a disk with room is told as a store that cannot be reached; other errors ' +
    'are left as they are',
  () => {
    const trace = Object.assign(new Error('unreachable'), { name: 'RuntimeError' })
    expect(embeddedFailure(trace, tmpdir())).toMatchObject({
      code: 'store-unavailable',
      message: expect.stringContaining('its program ended: unreachable') as string,
    })
    const other = new Error('column "x" does not exist')
    expect(embeddedFailure(other, tmpdir())).toBe(other)
  },
)
