// Noticing changes is for the whole process, so a program of its own tries it.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, expect, test } from 'vitest'

const place = mkdtempSync(join(tmpdir(), 'cordon-look-'))
afterAll(() => {
  rmSync(place, { recursive: true, force: true })
})

const LOOK = new URL('../../dist/platform/look.js', import.meta.url).href

/** Prints how often the file was read, and what was known of it at last. */
const PROGRAM = `
import { closeSync, writeFileSync } from 'node:fs'
import { createMemory, noticeChanges, openSync, readFileSync } from ${JSON.stringify(LOOK)}
noticeChanges()
const [file] = process.argv.slice(1)
let reads = 0
const memory = createMemory(10)
const read = () => memory.recall('text', () => {
  reads += 1
  const opened = openSync(file, 'r')
  try { return readFileSync(opened, 'utf8') } finally { closeSync(opened) }
})
const settled = () => new Promise((resolve) => setTimeout(resolve, 120))
await settled()
read(); read(); read()
const before = reads
writeFileSync(file, 'two')
read()
console.log(JSON.stringify([before, reads, read()]))
`

test('a file that was read by a descriptor is remembered until it changes', () => {
  const file = join(place, 'text')
  writeFileSync(file, 'one')
  const said = execFileSync(process.execPath, ['--input-type=module', '-e', PROGRAM, file], { encoding: 'utf8' })
  const [before, after, text] = JSON.parse(said) as [number, number, string]
  expect([before, text]).toEqual([1, 'two'])
  expect(after).toBeGreaterThan(1)
})
