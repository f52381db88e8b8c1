import { mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import type { Facts } from './printed.js'

import { cordon, describeForms, temporaryFolder } from './cordon.js'

const folder = temporaryFolder()
const file = join(folder, 'facts.json')
const facts = (): Facts => JSON.parse(readFileSync(file, 'utf8')) as Facts

describeForms('--facts', (run, form) => {
  test('has the decision, the boundary and the end', () => {
    mkdirSync(join(folder, `${form}-data`))
    run(
      [
        '--facts',
        file,
        '--read',
        `${form}-data`,
        '--env',
        'TOKEN=secret',
        '--timeout',
        '30s',
        '--',
        'sh',
        '-c',
        'exit 4',
      ],
      { cwd: folder },
    )
    expect(facts()).toMatchObject({
      permission_decision: {
        decision_id: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
        decision: 'allow',
        decision_source: 'command',
        decision_reason: `typed on the command line: --read ${form}-data, --env TOKEN=…, --timeout 30s`,
        rule_refs: [],
        updated_input_ref: null,
        approval_action_id: null,
        expires_at: expect.stringMatching(/^\d{4}-.*Z$/) as string,
        scope: 'call',
      },
      permission_state: { mode: 'default', interactive: false },
      sandbox_profile: {
        mode: 'sandboxed',
        backend: 'native',
        form,
        cwd: folder,
        network: 'none',
        write_roots: [],
        process_limits: { wall: 30_000 },
      },
      violations: [],
      usage: {
        wall_ms: expect.any(Number) as number,
        cpu_ms: expect.any(Number) as number,
        max_rss_bytes: expect.any(Number) as number,
        peak_memory_bytes: null,
      },
      command: { argv: ['sh', '-c', 'exit 4'], cwd: folder },
      result: { status: 'exited', exit_status: 4, exit_code: 4, signal: null, limit: null, error: null },
    })
    expect(facts().sandbox_profile?.read_roots).toContain(join(folder, `${form}-data`))
    expect(facts().sandbox_profile?.environment_ref).toContain('TOKEN')
    expect(readFileSync(file, 'utf8')).not.toContain('secret')
  })

  test('names the limit that ended the call, with a violation', () => {
    run(['--facts', file, '--timeout', '200ms', '--', 'sleep', '40'])
    expect(facts().result).toMatchObject({ status: 'limit', exit_status: 124, limit: 'wall' })
    expect(facts().violations).toMatchObject([{ kind: 'wall' }])
    expect(facts().sandbox_profile?.violation_refs).toEqual(['violations/0'])
  })

  test('has a refused connection as a violation with its destination', () => {
    run(['--facts', file, '--', 'bash', '-c', 'echo > /dev/tcp/192.0.2.1/80'])
    expect(facts().violations).toMatchObject([{ kind: 'connect', family: 'inet', address: '192.0.2.1', port: 80 }])
  })

  test('replaces the file as a whole and leaves nothing else behind', () => {
    const own = join(folder, `${form}-own`)
    mkdirSync(own)
    writeFileSync(join(own, 'facts.json'), 'old')
    run(['--facts', join(own, 'facts.json'), '--', 'true'])
    expect(readdirSync(own)).toEqual(['facts.json'])
    expect(JSON.parse(readFileSync(join(own, 'facts.json'), 'utf8'))).toHaveProperty('result')
  })

  test('cannot be redirected by a command that can write beside the file', () => {
    const own = join(folder, `${form}-led`)
    const elsewhere = join(folder, `${form}-elsewhere`)
    mkdirSync(join(own, 'inner'), { recursive: true })
    mkdirSync(elsewhere)
    run([
      '--write',
      own,
      '--facts',
      join(own, 'inner', 'facts.json'),
      '--',
      'sh',
      '-c',
      `mv ${own}/inner ${own}/moved && ln -s ${elsewhere} ${own}/inner`,
    ])
    expect(readdirSync(elsewhere)).toEqual([])
    expect(readdirSync(join(own, 'moved'))).toEqual(['facts.json'])
  })
})

test('has a refusal as the decision deny', () => {
  expect(cordon(['run', '--facts', file, '--mode', 'plan', '--write', folder, '--', 'true']).status).toBe(125)
  expect(facts()).toMatchObject({
    permission_decision: { decision: 'deny' },
    sandbox_profile: null,
    usage: null,
    result: { status: 'refused', exit_status: 125, error: { code: 'mode-forbids', fix: expect.any(String) as string } },
  })
})

test('is unavailable for what this host or version cannot do', () => {
  expect(cordon(['run', '--facts', file, '--require', 'broker', '--', 'true']).status).toBe(125)
  expect(facts()).toMatchObject({
    permission_decision: { decision: 'unavailable' },
    result: { error: { code: 'host-cannot-hold' } },
  })
})

test('has a missing program as allowed, but not run', () => {
  expect(cordon(['run', '--facts', file, '--', 'no-such-program']).status).toBe(127)
  expect(facts()).toMatchObject({
    permission_decision: { decision: 'allow' },
    result: { status: 'not_started', exit_status: 127, error: { code: 'program-not-found' } },
  })
})

test('checks that its file can be written before anything runs', () => {
  const { status, stdout, stderr } = cordon([
    'run',
    '--facts',
    join(folder, 'absent', 'facts.json'),
    '--',
    'echo',
    'ran',
  ])
  expect({ status, stdout }).toEqual({ status: 125, stdout: '' })
  expect(stderr).toMatch(/^cordon: file-unwritable: cannot write .*facts\.json: ENOENT/)
})

test('follows a link before the command runs, and can write to a device', () => {
  symlinkSync(file, join(folder, 'link.json'))
  cordon(['run', '--facts', join(folder, 'link.json'), '--', 'sh', '-c', 'exit 5'])
  expect(facts().result.exit_status).toBe(5)
  const { stderr } = cordon(['run', '--facts', '/dev/stderr', '--', 'true'])
  expect((JSON.parse(stderr) as Facts).result.exit_status).toBe(0)
})

test("has the same content as --json, which is one line on stderr after the command's output", () => {
  const { stdout, stderr } = cordon([
    'run',
    '--json',
    '--timeout',
    '300ms',
    '--',
    'sh',
    '-c',
    'echo out; echo err >&2; sleep 40',
  ])
  expect(stdout).toBe('out\n')
  const [first, second, ...rest] = stderr.split('\n')
  expect([first, rest]).toEqual(['err', ['']])
  expect((JSON.parse(second ?? '') as Facts).result).toMatchObject({ limit: 'wall', exit_status: 124 })
  expect((JSON.parse(cordon(['run', '--json', '--', 'no-such-program']).stderr) as Facts).result.error?.code).toBe(
    'program-not-found',
  )
})
