import { spawnSync } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  linkSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'

import { describe, expect, it } from 'vitest'

import type { JsonObject, JsonValue } from '../../src/gate/index.js'
import { anchorOf, openAuditLog, verifyAudit } from '../../src/runtime/index.js'

import { AN_EVENT, anEvent, auditFolder, linesOf, otherProcess, reasonsIn, withLog, writtenLog } from './audit-stage.js'

const newPath = (): string => join(auditFolder(), 'state', 'audit.jsonl')

describe('an open log', () => {
  it('creates its folder and files for its owner only', async () => {
    const path = newPath()
    await writtenLog(1, { path })
    expect([
      statSync(dirname(path)).mode & 0o777,
      statSync(path).mode & 0o777,
      statSync(anchorOf(path)).mode & 0o777,
    ]).toEqual([0o700, 0o600, 0o600])
  })

  it('removes the rights of others from an existing file', async () => {
    const path = await writtenLog(1)
    chmodSync(path, 0o666)
    await writtenLog(1, { path })
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })

  it('continues the chain when it is opened again', async () => {
    const path = await writtenLog(2)
    await writtenLog(2, { path })
    expect(reasonsIn(path)).toEqual(['1', '2', '1', '2'])
    expect((await verifyAudit(path)).isIntact).toBe(true)
  })

  it('writes concurrent appends in one step, in order, and every list as a whole', async () => {
    const path = newPath()
    await withLog({ path, durability: 'fsync' }, async (log) => {
      await Promise.all(
        Array.from({ length: 200 }, (_, index) =>
          log.append([anEvent(`${String(index)}a`), anEvent(`${String(index)}b`)]),
        ),
      )
      expect(reasonsIn(path)).toEqual(
        Array.from({ length: 200 }, (_, index) => [`${String(index)}a`, `${String(index)}b`]).flat(),
      )
      // The anchor counts its writings: one when the log was opened, few for all that was appended.
      const { revision } = JSON.parse(readFileSync(anchorOf(path), 'utf8').split('\n').toSorted().at(-1) ?? '') as {
        revision: number
      }
      expect(revision).toBeLessThan(6)
    })
  })

  it('keeps file names that are not UTF-8, and line separators, unchanged', async () => {
    const path = newPath()
    await withLog({ path }, (log) => log.append([anEvent('a\udc80b\u2028c\nd')]))
    expect(reasonsIn(path)).toEqual(['a\udc80b\u2028c\nd'])
    expect((await verifyAudit(path)).isIntact).toBe(true)
  })

  it('leaves only log and anchor behind', async () => {
    const path = await writtenLog(3)
    expect(readdirSync(dirname(path)).toSorted()).toEqual(['audit.jsonl', 'audit.jsonl.anchor'])
  })

  it('refuses appends after it was closed', async () => {
    const log = await openAuditLog({ path: newPath() })
    await log.close()
    await log.close()
    await expect(log.append([anEvent('late')])).rejects.toMatchObject({ code: 'audit-unwritable' })
  })
})

describe('a log is not opened', () => {
  it('through a symbolic link', async () => {
    const folder = auditFolder()
    writeFileSync(join(folder, 'target'), '')
    symlinkSync(join(folder, 'target'), join(folder, 'audit.jsonl'))
    await expect(openAuditLog({ path: join(folder, 'audit.jsonl') })).rejects.toMatchObject({
      code: 'audit-unsafe-path',
    })
    expect(readFileSync(join(folder, 'target'), 'utf8')).toBe('')
  })

  it('with an anchor that is a symbolic link', async () => {
    const folder = auditFolder()
    symlinkSync(join(folder, 'target'), join(folder, 'audit.jsonl.anchor'))
    await expect(openAuditLog({ path: join(folder, 'audit.jsonl') })).rejects.toMatchObject({
      code: 'audit-unsafe-path',
    })
  })

  it('if a pipe replaces its anchor', async () => {
    const folder = auditFolder()
    spawnSync('mkfifo', [join(folder, 'audit.jsonl.anchor')])
    await expect(openAuditLog({ path: join(folder, 'audit.jsonl') })).rejects.toMatchObject({
      code: 'audit-unsafe-path',
    })
  })

  it('under a second name', async () => {
    const path = await writtenLog(1)
    linkSync(path, `${path}.second`)
    const refused = await openAuditLog({ path }).catch((error: unknown) => error)
    expect(refused).toMatchObject({ code: 'audit-unsafe-path', fix: expect.stringContaining('find ~ ') as string })
    rmSync(`${path}.second`)
    await (await openAuditLog({ path })).close()
  })

  it('in a folder that others can write to', async () => {
    const folder = auditFolder()
    chmodSync(folder, 0o777)
    await expect(openAuditLog({ path: join(folder, 'audit.jsonl') })).rejects.toMatchObject({
      code: 'audit-unsafe-path',
    })
    chmodSync(folder, 0o755)
    await (await openAuditLog({ path: join(folder, 'audit.jsonl') })).close()
  })

  it('if a folder is in its place', async () => {
    const folder = auditFolder()
    mkdirSync(join(folder, 'audit.jsonl'))
    await expect(openAuditLog({ path: join(folder, 'audit.jsonl') })).rejects.toMatchObject({
      code: 'audit-unsafe-path',
    })
  })

  it('if lines were cut off, its anchor is gone, or another log is in its place', async () => {
    const cut = await writtenLog(3)
    truncateSync(cut, 100)
    const bare = await writtenLog(3)
    rmSync(anchorOf(bare))
    const gone = await writtenLog(3)
    rmSync(gone)
    for (const path of [cut, bare, gone])
      await expect(openAuditLog({ path })).rejects.toMatchObject({ code: 'audit-broken' })
  })
})

describe('an append is refused, so that nothing runs unrecorded,', () => {
  const refusedAfter = async (deed: (path: string) => void): Promise<void> => {
    const path = newPath()
    const log = await openAuditLog({ path })
    await log.append([anEvent('before')])
    deed(path)
    await expect(log.append([anEvent('after')])).rejects.toMatchObject({
      code: expect.stringMatching(/^audit-/) as string,
    })
    await log.close()
  }

  it('when the log was removed', () =>
    refusedAfter((path) => {
      rmSync(path)
    }))
  it('when its folder was removed', () =>
    refusedAfter((path) => {
      rmSync(dirname(path), { recursive: true })
    }))
  it('when its folder was renamed', () =>
    refusedAfter((path) => {
      renameSync(dirname(path), `${dirname(path)}.old`)
    }))
  it('when its anchor was removed', () =>
    refusedAfter((path) => {
      rmSync(anchorOf(path))
    }))
  it('when it was replaced', () =>
    refusedAfter((path) => {
      const text = readFileSync(path)
      rmSync(path)
      writeFileSync(path, text)
    }))
  it('when it was cut short', () =>
    refusedAfter((path) => {
      truncateSync(path, 10)
    }))
  it('when its anchor got a second name', () =>
    refusedAfter((path) => {
      linkSync(anchorOf(path), `${path}.second`)
    }))
  it('when it got a second name', () =>
    refusedAfter((path) => {
      linkSync(path, `${path}.second`)
    }))

  it('when it was restored to an older state, with its anchor', async () => {
    const path = newPath()
    const log = await openAuditLog({ path })
    await log.append([anEvent('one')])
    const [lines, anchor] = [readFileSync(path), readFileSync(anchorOf(path))]
    await log.append([anEvent('two')])
    await log.append([anEvent('three')])
    truncateSync(path, lines.length)
    writeFileSync(anchorOf(path), anchor)
    await expect(log.append([anEvent('after')])).rejects.toMatchObject({ code: 'audit-broken' })
    await log.close()
  })

  it('when the disk is full, and works again afterwards, without a partial line', async () => {
    const path = newPath()
    // The limit on the size of files stands for the disk: the kernel writes what fits and refuses the rest.
    const other = otherProcess(
      `${AN_EVENT}
      const log = await runtime.openAuditLog({ path: words[0] })
      const outcomes = []
      for (const text of ['small', 'x'.repeat(20000), 'again']) outcomes.push(await log.append([anEvent(text)]).then(() => 'ok', (error) => error.code + ' ' + error.fix))
      await log.close()
      console.log(JSON.stringify(outcomes))`,
      [path],
      ['bash', '-c', 'ulimit -f 8; exec "$@"', 'limited'],
    )
    const { output } = await other.ended
    expect(JSON.parse(output)).toEqual(['ok', expect.stringMatching(/^audit-unwritable raise the limit/), 'ok'])
    expect(reasonsIn(path)).toEqual(['small', 'again'])
    expect((await verifyAudit(path)).isIntact).toBe(true)
  })
})

describe('after a crash the log repairs and reports', () => {
  it('an unfinished line', async () => {
    const path = await writtenLog(2)
    appendFileSync(path, '{"event":{"type":"tool.cal')
    expect((await verifyAudit(path)).problems).toMatchObject([{ kind: 'torn', line: 4 }])
    await writtenLog(1, { path })
    const report = await verifyAudit(path)
    expect(report).toMatchObject({ isIntact: true, notes: [expect.stringContaining('26 bytes of an unfinished line')] })
    expect(JSON.parse(linesOf(path)[3] ?? '')).toMatchObject({
      event: { type: 'audit.repaired', torn_bytes: 26, adopted_lines: 0, lost_lines: 0, torn_file: `${path}.torn.4` },
    })
    expect(readFileSync(`${path}.torn.4`, 'utf8')).toBe('{"event":{"type":"tool.cal')
  })

  it('complete lines that the anchor does not know yet', async () => {
    const path = newPath()
    const log = await openAuditLog({ path })
    await log.append([anEvent('one')])
    const anchor = readFileSync(anchorOf(path))
    await log.append([anEvent('two')])
    await log.close()
    writeFileSync(anchorOf(path), anchor)
    expect((await verifyAudit(path)).problems).toMatchObject([{ kind: 'unanchored' }])
    await writtenLog(1, { path })
    expect(reasonsIn(path)).toEqual(['one', 'two', '1'])
    expect(await verifyAudit(path)).toMatchObject({
      isIntact: true,
      notes: [expect.stringContaining('1 lines that the anchor did not know of were kept')],
    })
  })

  it('an anchor that was created but not written', async () => {
    const path = newPath()
    mkdirSync(dirname(path), { mode: 0o700 })
    writeFileSync(anchorOf(path), '')
    await writtenLog(1, { path })
    expect((await verifyAudit(path)).isIntact).toBe(true)
  })

  it('a rotation that only renamed the full file', async () => {
    const path = await writtenLog(3)
    renameSync(path, `${path}.000001`)
    await writtenLog(1, { path })
    expect((await verifyAudit(path)).problems).toEqual([])
    expect(JSON.parse(linesOf(path)[0] ?? '')).toMatchObject({ sequence: 5, event: { type: 'audit.began', file: 2 } })
  })

  it('lines that a power cut lost before they were on the disk, and only those', async () => {
    const path = await writtenLog(4)
    const rewrite = async (changes: JsonObject): Promise<void> => {
      const { canonicalJson } = await import('../../src/gate/index.js')
      const { hashText } = await import('../../src/runtime/audit/chain.js')
      const [newest] = readFileSync(anchorOf(path), 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as JsonObject)
        .toSorted((a, b) => Number(b['revision']) - Number(a['revision']))
      const { check: _, ...anchor }: Record<string, JsonValue> = { ...newest, ...changes, revision: 100 }
      const check = hashText(canonicalJson(anchor)).slice(7, 39)
      writeFileSync(anchorOf(path), `${canonicalJson({ ...anchor, check }).padEnd(511)}\n`)
    }
    const whole = readFileSync(path)
    const cut = whole.length - (linesOf(path).at(-1)?.length ?? 0) - 20
    truncateSync(path, cut)
    await rewrite({ boot: 'another', synced: 5 })
    await expect(openAuditLog({ path })).rejects.toMatchObject({ code: 'audit-broken' })
    await rewrite({ boot: 'another', synced: 3 })
    expect((await verifyAudit(path)).problems.at(-1)?.message).toContain('the machine was started anew since')
    await writtenLog(1, { path })
    expect(reasonsIn(path)).toEqual(['1', '2', '1'])
    expect(await verifyAudit(path)).toMatchObject({
      isIntact: true,
      notes: [expect.stringContaining('2 lines that were not on the disk yet are lost')],
    })
  })
})
