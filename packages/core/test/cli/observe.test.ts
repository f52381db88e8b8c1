import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import type { Facts } from './printed.js'
import { openSandbox } from '../../src/sandbox/index.js'
import { parseAbsolutePath, parsePolicy, resolvePolicy } from '../../src/policy/index.js'

import { describeForms, temporaryFolder } from './cordon.js'

const folder = temporaryFolder()
const path = (name: string) => join(folder, name)
writeFileSync(path('secret'), 'secret')
mkdirSync(path('project'))
writeFileSync(path('project/data'), 'data')
symlinkSync(path('secret'), path('project/link'))

describeForms('--observe', (run, form) => {
  test('reports refused reads and what would allow them', () => {
    const { stderr } = run([
      '--observe',
      '--read',
      path('project'),
      '--',
      'sh',
      '-c',
      `cat ${path('project/data')} ${path('secret')} 2>/dev/null`,
    ])
    expect(stderr).toBe(`cordon: refused read of ${path('secret')}: add --read ${path('secret')}\n`)
  })

  test('reports refused writes', () => {
    const { stderr } = run([
      '--observe',
      '--read',
      path('project'),
      '--',
      'sh',
      '-c',
      `{ echo x > ${path('project/data')}; echo x > ${path('new')}; } 2>/dev/null; true`,
    ])
    expect(
      stderr
        .split('\n')
        .filter((line) => line !== '')
        .sort(),
    ).toEqual([
      `cordon: refused write of ${path('new')}: add --write ${folder}`,
      `cordon: refused write of ${path('project/data')}: add --write ${path('project/data')}`,
    ])
    expect(readFileSync(path('project/data'), 'utf8')).toBe('data')
  })

  test('reports nothing that is allowed, private to the cell, or missing everywhere', () => {
    const script =
      `cat ${path('project/data')} > $TMPDIR/x; echo x > ${path('project/made')}; echo > /dev/null; cat ` +
      `${path('absent')} 2>/dev/null; true`
    expect(run(['--observe', '--write', path('project'), '--', 'sh', '-c', script]).stderr).toBe('')
  })

  test('names the target of a link, because that must be granted', () => {
    const { stderr } = run([
      '--observe',
      '--read',
      path('project'),
      '--',
      'sh',
      '-c',
      `cat ${path('project/link')} 2>/dev/null`,
    ])
    expect(stderr).toBe(`cordon: refused read of ${path('secret')}: add --read ${path('secret')}\n`)
  })

  test('says why a protected name is refused', () => {
    writeFileSync(path('project/package.json'), '{}')
    const { stderr } = run([
      '--observe',
      '--write',
      path('project'),
      '--',
      'sh',
      '-c',
      `echo x > ${path('project/package.json')}; true`,
    ])
    expect(stderr).toContain(
      `refused write of ${path('project/package.json')} (protected: npm, yarn and pnpm run its scripts)`,
    )
    expect(readFileSync(path('project/package.json'), 'utf8')).toBe('{}')
  })

  test('puts refused files into the facts', () => {
    run(['--observe', '--facts', path('facts'), '--', 'cat', path('secret')])
    expect((JSON.parse(readFileSync(path('facts'), 'utf8')) as Facts).violations).toContainEqual({
      kind: 'file',
      access: 'read',
      path: path('secret'),
      openedAs: path('secret'),
      reason: { kind: 'not-granted' },
    })
  })

  test('without it the same command runs the same, and refused reads are not reported', () => {
    const { status, stderr } = run(['--', 'cat', path('secret')])
    expect(status).toBe(1)
    expect(stderr).not.toContain('refused read')
  })

  test('without it a refused write is reported if the command fails', () => {
    const room = path(`room-${form}`)
    mkdirSync(room)
    const { status, stderr } = run([
      '--read',
      path('project'),
      '--read',
      room,
      '--',
      'cp',
      path('project/data'),
      `${room}/copy`,
    ])
    expect(status).toBe(1)
    expect(stderr).toContain(`cordon: refused write of ${room}/copy: add --write ${room}\n`)
    expect(run(['--read', path('project'), '--write', room, '--', 'cp', path('project/data'), `${room}/copy`])).toEqual(
      { status: 0, stdout: '', stderr: '' },
    )
  })

  test('the library reports them too', async () => {
    const sandbox = await openSandbox({ form })
    const workspace = parseAbsolutePath(folder)
    const boundary = resolvePolicy(parsePolicy({}, 'test'), { workspace, home: workspace, kind: 'process' })
    const { violations } = await sandbox.run({
      boundary,
      cwd: '/',
      argv: ['/bin/cat', path('secret')],
      observe: 'everything',
    })
    await sandbox.close()
    expect(violations).toContainEqual({
      kind: 'file',
      access: 'read',
      path: path('secret'),
      openedAs: path('secret'),
      reason: { kind: 'not-granted' },
    })
  })
})
