// A log that lies where a tool may write.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, it } from 'vitest'

import { parseAbsolutePath, parsePolicy, resolvePolicy } from '../../src/policy/index.js'
import type { Boundary } from '../../src/policy/index.js'
import { openAuditLog, shieldAudit, verifyAudit } from '../../src/runtime/index.js'
import { openSandbox } from '../../src/sandbox/index.js'
import type { Form } from '../../src/sandbox/index.js'
import { exitCodeOf } from '../ending.js'

import { anEvent, auditFolder } from './audit-stage.js'

const boundaryOf = (workspace: string, filesystem: object): Boundary => {
  const place = parseAbsolutePath(workspace)
  return resolvePolicy(parsePolicy({ filesystem, limits: { wall: '20s' } }, 'test'), { workspace: place, home: place, kind: 'process' })
}

describe('the boundary of a tool', () => {
  const places = { log: '/home/a/.local/state/cordon/audit.jsonl', anchor: '/home/a/.local/state/cordon/audit.jsonl.anchor' }

  it('stays as it is where it does not reach the log', () => {
    const boundary = boundaryOf('/home/a/work', { read: ['/usr/**'], write: ['./**'] })
    expect(shieldAudit(boundary, places)).toBe(boundary)
  })

  it.each([[{ write: ['/home/a/**'] }], [{ write: ['/home/*/.local/**'] }], [{ read: ['/home/a/.local/**'] }], [{ write: ['/home/a/.local/state'] }]])('loses the folder of the log where it reaches it: %j', (filesystem) => {
    const [shield] = shieldAudit(boundaryOf('/home/a/work', filesystem), places).read.slice(-1)
    expect(shield).toMatchObject({ negated: true, kind: 'literal', base: '/home/a/.local/state/cordon' })
  })

  it('loses the folders of log and anchor where they are two', () => {
    const { read } = shieldAudit(boundaryOf('/home/a/work', { write: ['/home/a/**'] }), { ...places, anchor: '/home/a/anchors/x' })
    expect(read.filter(({ negated }) => negated).map(({ base }) => base)).toEqual(['/home/a/.local/state/cordon', '/home/a/anchors'])
  })

  it.each([[{ write: ['/home/a/.local/state/cordon/**'] }], [{ write: ['/home/a/.local/state/cordon/audit.jsonl'] }], [{ write: ['/home/a/.local/state/cordon/*.jsonl'] }]])('is refused where it begins in that folder: %j', (filesystem) => {
    expect(() => shieldAudit(boundaryOf('/home/a/work', filesystem), places)).toThrow(expect.objectContaining({ code: 'audit-exposed' }) as Error)
  })
})

const ATTACK = 'echo forged >> state/audit.jsonl; : > state/audit.jsonl; rm -f state/audit.jsonl; mv state other; touch state/audit.jsonl.lock.9; cat state/audit.jsonl; echo allowed > file'

describe.each<Form>(['namespaces', 'landlock'])('a tool in a cell (%s) whose write root holds the log', (form) => {
  it('can neither read nor change it, and can write beside it', async (context) => {
    const workspace = auditFolder()
    const log = await openAuditLog({ path: join(workspace, 'state', 'audit.jsonl') })
    await log.append([anEvent('before')])
    const before = readFileSync(log.places.log, 'utf8')
    mkdirSync(join(workspace, 'sub'))
    writeFileSync(join(workspace, 'file'), '')
    const sandbox = await openSandbox({ form, nursery: 'none' }).catch((error: unknown) => context.skip(`cannot run here: ${String(error)}`))
    try {
      const boundary = shieldAudit(boundaryOf(workspace, { write: ['./**'] }), log.places)
      const result = await sandbox.run({ boundary, cwd: parseAbsolutePath(workspace), argv: ['/bin/bash', '-c', ATTACK], hostEnvironment: {} })
      expect(exitCodeOf(result)).toBe(0)
      expect(Buffer.from(result.stdout).toString()).not.toContain('before')
    } finally {
      await sandbox.close()
    }
    expect(readFileSync(join(workspace, 'file'), 'utf8')).toBe('allowed\n')
    expect(readFileSync(log.places.log, 'utf8')).toBe(before)
    await log.append([anEvent('after')])
    await log.close()
    expect((await verifyAudit(log.places.log)).isIntact).toBe(true)
  })
})
