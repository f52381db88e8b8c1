import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, readdirSync, readlinkSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

import { afterAll, expect, test } from 'vitest'

import { holdFolder } from '../../src/store/engine/pglite-engine.js'

const home = mkdtempSync(join(tmpdir(), 'cordon-hold-'))
afterAll(() => {
  rmSync(home, { recursive: true, force: true })
})
const MODULE = pathToFileURL(join(import.meta.dirname, '..', '..', 'dist', 'store', 'engine', 'pglite-engine.js')).href
const program = (folder: string, then: string) => [
  '--input-type=module',
  '-e',
  `import { holdFolder } from ${JSON.stringify(MODULE)}; try { holdFolder(${JSON.stringify(folder)}); ` +
    `${then} } catch (error) { console.log(error.code) }`,
]

test('a folder that another process has open is refused until that process closes it', () => {
  const folder = join(home, 'a')
  const release = holdFolder(folder)
  expect(spawnSync(process.execPath, program(folder, 'console.log("held")'), { encoding: 'utf8' }).stdout).toBe(
    'store-held\n',
  )
  expect(() => holdFolder(folder)).toThrow(/another process has the store/)
  release()
  expect(spawnSync(process.execPath, program(folder, 'console.log("held")'), { encoding: 'utf8' }).stdout).toBe(
    'held\n',
  )
})

test('the hold of a killed process is ignored, and removed by the next process', () => {
  const folder = join(home, 'b')
  for (let deaths = 0; deaths < 3; deaths += 1)
    spawnSync(process.execPath, program(folder, 'process.kill(process.pid, "SIGKILL")'))
  expect(readdirSync(home).filter((name) => name.startsWith('b.hold'))).toHaveLength(3)
  const release = holdFolder(folder)
  expect(() => holdFolder(folder)).toThrow(/another process has the store/)
  release()
  expect(readdirSync(home).filter((name) => name.startsWith('b.hold'))).toEqual([])
})

test('a killed process that nobody reaped does not hold a folder, and a live one does', async () => {
  const folder = join(home, 'e')
  // The shell becomes a program that never asks what became of its child, as in a container without an init.
  const script = (then: string) => `"$0" --input-type=module -e "$1" & exec sleep 60 # ${then}`
  const holderOf = async (then: string) => {
    const parent = spawn('sh', ['-c', script(then), process.execPath, program(folder, then)[2] ?? ''], {
      stdio: 'ignore',
    })
    await expect.poll(() => readdirSync(home).includes('e.hold')).toBe(true)
    return parent
  }
  const living = await holderOf('setTimeout(() => undefined, 60_000)')
  expect(() => holdFolder(folder)).toThrow(/another process has the store/)
  const pid = Number(readlinkSync(`${folder}.hold`).split(':')[0])
  process.kill(pid, 'SIGKILL')
  await expect
    .poll(() =>
      readFileSync(`/proc/${String(pid)}/stat`, 'utf8')
        .split(') ')
        .at(-1)
        ?.slice(0, 1),
    )
    .toBe('Z')
  holdFolder(folder)()
  living.kill('SIGKILL')
})

test('of many processes after a death, one gets the folder', async () => {
  const folder = join(home, 'c')
  spawnSync(process.execPath, program(folder, 'process.kill(process.pid, "SIGKILL")'))
  // Whoever has it keeps it until all have tried.
  const children = Array.from({ length: 6 }, () =>
    spawn(process.execPath, program(folder, 'console.log("held"); setTimeout(() => undefined, 60_000)'), {
      stdio: ['ignore', 'pipe', 'inherit'],
    }),
  )
  const said = await Promise.all(
    children.map(
      (child) =>
        new Promise<string>((resolve) => {
          child.stdout.setEncoding('utf8').once('data', (text: string) => {
            resolve(text.trim())
          })
        }),
    ),
  )
  for (const child of children) child.kill('SIGKILL')
  expect(said.filter((text) => text === 'held')).toHaveLength(1)
  expect(said.filter((text) => text === 'store-held')).toHaveLength(5)
})

test('a hold of another host, or of a process that cannot be checked, is kept', () => {
  const folder = join(home, 'd')
  symlinkSync('1:1:1:', `${folder}.hold`)
  expect(() => holdFolder(folder)).toThrow(/another process has the store/)
  expect(existsSync(`${folder}.hold`) || readdirSync(home).includes('d.hold')).toBe(true)
})
