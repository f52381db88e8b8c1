import {
  copyFileSync,
  existsSync,
  linkSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'

import { describe, expect, it } from 'vitest'

import { anchorOf, verifyAudit } from '../../src/runtime/index.js'
import type { AuditProblem } from '../../src/runtime/index.js'

import { IS_MATRIX } from '../../../../test/turns.js'
import { anEvent, auditFolder, linesOf, withLog, writeLines, writtenLog } from './audit-stage.js'

const found = async (path: string): Promise<readonly (readonly [AuditProblem['kind'], number | null])[]> =>
  (await verifyAudit(path)).problems.map(({ kind, line }) => [kind, line])

describe('an untouched log', () => {
  it('is intact, line by line, and agrees with its anchor', async () => {
    const path = await writtenLog(5)
    const report = await verifyAudit(path)
    expect(report).toMatchObject({ isIntact: true, lines: 6, problems: [], notes: [] })
    expect(report.anchor).toEqual(report.end)
  })

  it('is intact across its full files', async () => {
    const path = await writtenLog(20, { maxFileBytes: 1000 })
    const report = await verifyAudit(path)
    expect(report.problems).toEqual([])
    expect(report.files.length).toBeGreaterThan(4)
    expect(report.files.at(-1)).toBe(path)
  })

  it('is intact while it is being written to and rotated', async () => {
    const path = join(auditFolder(), 'audit.jsonl')
    await withLog({ path, maxFileBytes: 3000 }, async (log) => {
      const over = new AbortController()
      const writing = (async () => {
        for (let index = 0; !over.signal.aborted; index += 1) {
          await log.append([anEvent(String(index)), anEvent('again')])
          await new Promise((resolve) => setImmediate(resolve))
        }
      })()
      try {
        for (let look = 0; look < (IS_MATRIX ? 5 : 1); look += 1) expect((await verifyAudit(path)).problems).toEqual([])
      } finally {
        over.abort()
        await writing
      }
    })
  })
})

describe('a log with a second name, which no writer would take,', () => {
  it('is reported, and is intact again without it', async () => {
    const path = await writtenLog(2)
    for (const file of [path, anchorOf(path)]) {
      linkSync(file, `${file}.other`)
      expect(await found(path)).toEqual([['linked', null]])
      rmSync(`${file}.other`)
      expect(await found(path)).toEqual([])
    }
  })

  it('is reported if it is a link, and an anchor that is one is refused', async () => {
    const path = await writtenLog(2)
    renameSync(path, `${path}.other`)
    symlinkSync(`${path}.other`, path)
    expect(await found(path)).toEqual([['linked', null]])
    renameSync(`${path}.other`, path)
    expect(await found(path)).toEqual([])
    renameSync(anchorOf(path), `${path}.other`)
    symlinkSync(`${path}.other`, anchorOf(path))
    await expect(verifyAudit(path)).rejects.toMatchObject({ code: 'audit-unsafe-path' })
  })
})

describe('verification finds, with its line,', () => {
  it('every single changed byte of a line', async () => {
    const path = await writtenLog(3)
    const whole = readFileSync(path)
    const [first = '', second = ''] = linesOf(path)
    const begin = first.length + 1
    for (let at = begin; at < begin + second.length; at += 7) {
      const bytes = Buffer.from(whole)
      bytes[at] = (bytes[at] ?? 0) ^ 1
      writeFileSync(path, bytes)
      const { problems } = await verifyAudit(path)
      expect(problems[0]?.line, `byte ${String(at)}`).toBe(2)
    }
  })

  it('a line that means the same but is written differently', async () => {
    const path = await writtenLog(2)
    writeLines(
      path,
      linesOf(path).map((line, index) => (index === 1 ? line.replace('{"event"', '{ "event"') : line)),
    )
    expect(await found(path)).toEqual([['edited', 2]])
  })

  it('an edited line with a new hash, at the next line', async () => {
    const path = await writtenLog(3)
    const other = await writtenLog(3)
    const [mine, theirs] = [linesOf(path), linesOf(other)]
    // Intact in itself, and of another chain.
    writeLines(
      path,
      mine.map((line, index) => (index === 2 ? (theirs[2] ?? '') : line)),
    )
    expect(await found(path)).toEqual([
      ['unchained', 3],
      ['unchained', 4],
    ])
  })

  it('two swapped lines', async () => {
    const path = await writtenLog(4)
    const [a = '', b = '', c = '', d = '', e = ''] = linesOf(path)
    writeLines(path, [a, c, b, d, e])
    expect(await found(path)).toEqual([
      ['missing', 2],
      ['reordered', 3],
      ['missing', 4],
    ])
  })

  it('a duplicate line', async () => {
    const path = await writtenLog(3)
    const lines = linesOf(path)
    writeLines(path, [...lines.slice(0, 3), lines[2] ?? '', ...lines.slice(3)])
    expect(await found(path)).toEqual([['reordered', 4]])
  })

  it('lines removed from the middle', async () => {
    const path = await writtenLog(5)
    const lines = linesOf(path)
    writeLines(path, [...lines.slice(0, 2), ...lines.slice(4)])
    const { problems } = await verifyAudit(path)
    expect(problems).toMatchObject([
      { kind: 'missing', line: 3, message: 'before line 3, the entries 3 to 4 are missing' },
    ])
  })

  it('lines cut off at the end', async () => {
    const path = await writtenLog(5)
    writeLines(path, linesOf(path).slice(0, -2))
    const { problems } = await verifyAudit(path)
    expect(problems).toMatchObject([{ kind: 'truncated', sequence: 4 }])
  })

  it('part of a line cut off at the end', async () => {
    const path = await writtenLog(5)
    truncateSync(path, readFileSync(path).length - 10)
    expect(await found(path)).toEqual([
      ['torn', 6],
      ['truncated', null],
    ])
  })

  it('lines added at the end by another process', async () => {
    const path = await writtenLog(2)
    const longer = await writtenLog(0)
    copyFileSync(path, longer)
    copyFileSync(anchorOf(path), anchorOf(longer))
    await withLog({ path: longer }, async (log) => {
      await log.append([anEvent('forged')])
    })
    copyFileSync(longer, path)
    expect(await found(path)).toEqual([['unanchored', null]])
  })

  it('a log of another run in its place', async () => {
    const path = await writtenLog(5)
    const other = await writtenLog(5)
    copyFileSync(other, path)
    expect(await found(path)).toEqual([['replaced', 6]])
  })

  it('an older copy of itself in its place', async () => {
    const path = await writtenLog(2)
    const older = `${path}.copy`
    copyFileSync(path, older)
    await withLog({ path }, async (log) => {
      await log.append([anEvent('later')])
    })
    copyFileSync(older, path)
    expect(await found(path)).toEqual([['truncated', null]])
  })

  it('an anchor that is gone, damaged, or of another log', async () => {
    const path = await writtenLog(2)
    const anchor = readFileSync(anchorOf(path))
    rmSync(anchorOf(path))
    expect(await found(path)).toEqual([['no-anchor', null]])
    writeFileSync(anchorOf(path), Buffer.from(anchor).fill('x'))
    expect(await found(path)).toEqual([['bad-anchor', null]])
    copyFileSync(anchorOf(await writtenLog(2)), anchorOf(path))
    expect(await found(path)).toEqual([['replaced', 3]])
  })

  it('one missing file of several, and two with swapped names', async () => {
    const path = await writtenLog(20, { maxFileBytes: 1000 })
    const [one, two] = [`${path}.000001`, `${path}.000002`]
    renameSync(one, `${path}.x`)
    const removed = await verifyAudit(path)
    expect(removed.problems.map(({ kind }) => kind)).toEqual(['missing', 'removed'])
    renameSync(two, one)
    renameSync(`${path}.x`, two)
    expect((await verifyAudit(path)).isIntact).toBe(false)
  })

  it('a missing log with an existing anchor', async () => {
    const path = await writtenLog(2)
    rmSync(path)
    expect((await verifyAudit(path)).problems.map(({ kind }) => kind)).toEqual(['removed', 'truncated'])
  })
})

describe('verification does not find, because nothing on this machine could tell,', () => {
  it('log and anchor both restored to an older state while nobody writes', async () => {
    const path = await writtenLog(2)
    const [log, anchor] = [readFileSync(path), readFileSync(anchorOf(path))]
    await withLog({ path }, async (open) => {
      await open.append([anEvent('later')])
    })
    writeFileSync(path, log)
    writeFileSync(anchorOf(path), anchor)
    expect((await verifyAudit(path)).isIntact).toBe(true)
  })

  it('log and anchor both missing', async () => {
    const path = await writtenLog(2)
    rmSync(path)
    rmSync(anchorOf(path))
    await writtenLog(1, { path })
    expect((await verifyAudit(path)).isIntact).toBe(true)
    expect(existsSync(path)).toBe(true)
  })
})
