// The boundary decides what is a violation, in the same way for every kind of tool. The model learns only its kind.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { processTool, tool } from '../../src/runtime/index.js'
import type { Cordon, ToolResult } from '../../src/runtime/index.js'
import type { Form } from '../../src/sandbox/index.js'

import { READ, WRITE, asWritten, openStage } from './stage.js'

const { newFolder, cordon } = openStage()

/**
 * A folder that may be read, two that may be written, one of them with a protected name, and one that is not granted.
 */
const places = () => {
  const base = newFolder()
  const [data, out, project, outside] = ['data', 'out', 'project', 'outside'].map((name) => join(base, name)) as [
    string,
    string,
    string,
    string,
  ]
  for (const folder of [data, out, project, outside]) {
    mkdirSync(folder)
    writeFileSync(join(folder, 'file'), 'text')
  }
  writeFileSync(join(project, 'package.json'), '{}')
  return { base, data, out, project, outside, policy: { filesystem: { read: [data], write: [out, project] } } }
}

const SH = ({ script }: { readonly script: string }) => ['/bin/sh', '-c', script]

describe.each<Form>(['namespaces', 'landlock'])('a violation of a call (%s)', (form) => {
  const { base, data, out, project, outside, policy } = places()
  let opened: Promise<Cordon> | undefined
  const call = async (name: string, input: unknown): Promise<ToolResult> => {
    opened ??= cordon({
      sandbox: { form },
      tools: [
        tool({ name: 'read', argumentGate: 'off', policy, run: READ }),
        tool({ name: 'write', argumentGate: 'off', policy, run: WRITE }),
        tool({
          name: 'forge',
          argumentGate: 'off',
          policy,
          run: asWritten(
            "({ path }) => { throw Object.assign(new Error('made up'), { code: 'EACCES', syscall: 'open', " +
              'path, errno: -13 }) }',
          ),
        }),
        processTool({ name: 'sh', argumentGate: 'off', policy, cwd: base, command: SH }),
        processTool({ name: 'unwatched', argumentGate: 'off', observe: false, policy, cwd: base, command: SH }),
      ],
    })
    return (await opened).call(name, input)
  }
  const sh = (script: string) => call('sh', { script })
  const FAILED = { status: 'failed', facts: { violations: [] } }
  const refused = (access: 'read' | 'write', path: string) => ({
    status: 'violated',
    facts: { violations: [{ kind: 'file', access, path }] },
  })

  test('is not reported for a missing file in a readable folder, or for one that the host lacks too', async () => {
    expect(await call('read', { path: join(data, 'missing') })).toMatchObject(FAILED)
    expect(await call('read', { path: join(outside, 'missing') })).toMatchObject(FAILED)
    expect(await sh(`cat ${data}/missing`)).toMatchObject(FAILED)
    expect(await sh(`: >> ${base}/no/such/folder`)).toMatchObject(FAILED)
    expect(await call('read', { path: join(data, 'file') })).toMatchObject({
      status: 'ok',
      output: 'text',
      facts: { violations: [] },
    })
  })

  test('cannot be forged by an error that looks like one', async () => {
    expect(await call('forge', { path: '/etc/shadow' })).toMatchObject(FAILED)
    expect(await call('forge', { path: join(data, 'file') })).toMatchObject(FAILED)
    expect(await call('read', { path: join(outside, 'file') })).toMatchObject(refused('read', join(outside, 'file')))
  })

  test('is the same for a function and a program', async () => {
    expect(await call('write', { path: join(data, 'file'), text: 'x' })).toMatchObject(
      refused('write', join(data, 'file')),
    )
    expect(await sh(`echo x > ${data}/file`)).toMatchObject(refused('write', join(data, 'file')))
    expect(await sh(`cat ${outside}/file`)).toMatchObject(refused('read', join(outside, 'file')))
    expect(await sh('cd data && cat ../outside/file')).toMatchObject(refused('read', join(outside, 'file')))
    expect(await call('write', { path: join(out, 'file'), text: 'y' })).toMatchObject({
      status: 'ok',
      facts: { violations: [] },
    })
    expect(await sh(`cat ${data}/file > ${out}/copy`)).toMatchObject({ status: 'ok', facts: { violations: [] } })
    expect([readFileSync(join(data, 'file'), 'utf8'), readFileSync(join(out, 'copy'), 'utf8')]).toEqual([
      'text',
      'text',
    ])
  })

  test.each([
    ['a new file', (folder: string) => `touch ${folder}/made`, 'made'],
    ['a new folder', (folder: string) => `mkdir ${folder}/made`, 'made'],
    ['a link', (folder: string) => `ln -s file ${folder}/made`, 'made'],
    ['a removal', (folder: string) => `rm ${folder}/file`, 'file'],
    ['a new name', (folder: string) => `mv ${folder}/file ${folder}/other`, 'file'],
    ['a copy', (folder: string) => `cp ${folder}/file ${folder}/made`, 'made'],
  ])('is %s in a read-only folder, and not in a writable one', async (_, script, name) => {
    const result = await sh(script(data))
    expect(result.status).toBe('violated')
    expect(result.facts.violations).toContainEqual(
      expect.objectContaining({ kind: 'file', access: 'write', path: join(data, name) }),
    )
    expect(existsSync(join(data, 'file'))).toBe(true)
    expect(
      await sh(`mkdir -p ${out}/own && rm -rf ${out}/own/* && echo x > ${out}/own/file && ${script(join(out, 'own'))}`),
    ).toMatchObject({ status: 'ok', facts: { violations: [] } })
  })

  test('is reported for a protected name that could not be changed', async () => {
    const reason = { kind: 'protected' }
    expect(await sh(`echo x > ${project}/package.json`)).toMatchObject({
      status: 'violated',
      facts: { violations: [{ kind: 'file', access: 'write', path: join(project, 'package.json'), reason }] },
    })
    expect(await sh(`rm ${project}/package.json`)).toMatchObject({
      status: 'violated',
      facts: { violations: [{ kind: 'file', access: 'write', path: join(project, 'package.json'), reason }] },
    })
    expect(readFileSync(join(project, 'package.json'), 'utf8')).toBe('{}')
    expect(await sh(`cat ${project}/package.json`)).toMatchObject({ status: 'ok', facts: { violations: [] } })
  })

  test('does not undo a success, and is listed', async () => {
    expect(await sh(`cat ${outside}/file; echo x > ${data}/file; true`)).toMatchObject({
      status: 'ok',
      facts: {
        violations: expect.arrayContaining([
          expect.objectContaining({ access: 'read', path: join(outside, 'file') }),
          expect.objectContaining({ access: 'write', path: join(data, 'file') }),
        ]) as unknown,
      },
    })
  })

  test('does not explain a failure if programs open the file by habit, unless the command names it', async () => {
    writeFileSync(join(data, 'one.py'), 'import two\nimport sys\nsys.exit(3)\n')
    writeFileSync(join(data, 'two.py'), 'x = 1\n')
    const result = await sh(`python3 ${data}/one.py`)
    expect(result).toMatchObject({ status: 'failed', output: { exit_code: 3 } })
    expect(result.facts.violations).toContainEqual(
      expect.objectContaining({ access: 'write', path: expect.stringContaining('__pycache__') as string }),
    )
    writeFileSync(join(outside, '.npmrc'), 'token')
    expect(await sh(`cat ${outside}/.npmrc`)).toMatchObject(refused('read', join(outside, '.npmrc')))
  })

  test('of reading is not reported with observe off, but of writing it is', async () => {
    expect(await call('unwatched', { script: `cat ${outside}/file` })).toMatchObject(FAILED)
    expect(await call('unwatched', { script: `echo x > ${data}/file` })).toMatchObject(
      refused('write', join(data, 'file')),
    )
  })

  test('is limited in number, however many files a tool tries', async () => {
    const { facts } = await sh(
      `cd ${data}; i=0; while [ $i -lt 700 ]; do echo x 2>/dev/null > new$i; i=$((i+1)); done; true`,
    )
    expect(facts.violations.length).toBeGreaterThan(100)
    expect(facts.violations.length).toBeLessThanOrEqual(300)
  })
})
