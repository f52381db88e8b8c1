import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { processTool, tool } from '../../src/runtime/index.js'
import type { Approve } from '../../src/runtime/index.js'

import { READ, WRITE, asWritten, openStage } from './stage.js'

const { workspace, newFolder, cordon } = openStage()

const TOOLS = [
  tool({
    name: 'add',
    input: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] },
    run: ({ a, b }: { a: number; b: number }) => a + b,
  }),
  tool({ name: 'read', policy: { filesystem: { read: ['.'] } }, run: READ }),
  tool({ name: 'write', policy: { filesystem: { write: ['.'] } }, run: WRITE }),
  tool({ name: 'unguarded', argumentGate: 'off', run: READ }),
  tool({
    name: 'throws',
    run: () => {
      throw new TypeError('not today')
    },
  }),
  processTool({ name: 'sh', command: ({ script }: { readonly script: string }) => ['/bin/sh', '-c', script] }),
]

describe('a call of a function tool', () => {
  test('returns the result of the function', async () => {
    expect(await (await cordon({ tools: TOOLS })).call('add', { a: 1, b: 2 })).toMatchObject({
      status: 'ok',
      output: 3,
      facts: { sandbox_profile: { mode: 'sandboxed' } },
    })
  })

  test('does not run on input that its schema refuses', async () => {
    expect(await (await cordon({ tools: TOOLS })).call('add', { a: 'one' })).toMatchObject({
      status: 'denied',
      facts: { permission_decision: { decision_source: 'schema' } },
    })
  })

  test('reads and writes what its policy grants', async () => {
    const runtime = await cordon({ tools: TOOLS })
    expect(await runtime.call('write', { path: join(workspace, 'made'), text: 'text' })).toMatchObject({
      status: 'ok',
      output: null,
    })
    expect(await runtime.call('read', { path: join(workspace, 'made') })).toMatchObject({
      status: 'ok',
      output: 'text',
    })
  })

  test('is violated, not failed, if the kernel refuses it a file', async () => {
    const secret = join(newFolder(), 'secret')
    writeFileSync(secret, 'SECRET')
    const result = await (await cordon({ tools: TOOLS })).call('unguarded', { path: secret })
    expect(result).toMatchObject({
      status: 'violated',
      facts: { violations: [{ kind: 'file', access: 'read', path: secret, reason: { kind: 'not-granted' } }] },
    })
    expect(result.output).toBeUndefined()
    expect(result.reason).not.toContain(secret)
  })

  test('is denied before it runs if its arguments lead outside', async () => {
    expect(await (await cordon({ tools: TOOLS })).call('read', { path: '/etc/shadow' })).toMatchObject({
      status: 'denied',
      facts: { sandbox_profile: null, permission_decision: { decision: 'deny' } },
    })
  })

  test('leaves no process running, whatever it started', async () => {
    // Threads and processes that write on and on, in sessions of their own, and whose parents are gone.
    const run = asWritten(`async ({ file }) => {
      const { spawn } = await import('node:child_process')
      const { Worker } = await import('node:worker_threads')
      const { statSync, appendFileSync } = await import('node:fs')
      appendFileSync(file, 'x')
      const writeOn = 'while :; do echo x >> "$0"; done'
      for (let i = 0; i < 3; i += 1) spawn('/bin/sh', ['-c', 'setsid sh -c "$1" "$0" & exit', file, writeOn], { detached: true, stdio: 'ignore' }).unref()
      new Worker('const { appendFileSync } = require("node:fs"); for (;;) appendFileSync(require("node:worker_threads").workerData, "y")', { eval: true, workerData: file })
      while (statSync(file).size < 100) await new Promise((resolve) => setTimeout(resolve, 10))
      return 'over'
    }`)
    const runtime = await cordon({
      tools: [tool({ name: 'busy', policy: { filesystem: { write: ['.'] }, exec: 'all' }, run })],
    })
    for (let round = 0; round < 5; round += 1) {
      const file = join(workspace, `busy-${String(round)}`)
      expect(await runtime.call('busy', { file })).toMatchObject({ status: 'ok', output: 'over' })
      const { size } = statSync(file)
      await new Promise((resolve) => setTimeout(resolve, 50))
      expect(statSync(file).size).toBe(size)
    }
  })

  test('reports its usage', async () => {
    const { facts } = await (await cordon({ tools: TOOLS })).call('add', { a: 1, b: 2 })
    expect(facts.usage?.max_rss_bytes).toBeGreaterThan(1_000_000)
  })

  test('streams its progress, separate from its output', async () => {
    const run = async function* (n: number) {
      for (let i = 1; i <= n; i += 1) yield await Promise.resolve(i)
      process.stdout.write('counted\n')
      return 'done'
    }
    const seen: unknown[] = []
    const result = await (
      await cordon({ tools: [tool({ name: 'count', run })] })
    ).call('count', 3, { onProgress: (value) => seen.push(value) })
    expect(result).toMatchObject({ status: 'ok', output: 'done', facts: { printed: 'counted\n' } })
    expect(seen).toEqual([1, 2, 3])
  })

  test('in process gets the abort signal, and the error says whether it stopped', async () => {
    const policy = { risk: 'low', limits: { wall: '20ms' } } as const
    const deaf = tool({ name: 'deaf', inProcess: true, policy, run: () => new Promise(() => undefined) })
    const hearing = tool({
      name: 'hearing',
      inProcess: true,
      policy,
      run: (_: unknown, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            reject(new Error('stopped'))
          })
        }),
    })
    const quick = tool({
      name: 'quick',
      inProcess: true,
      policy: { risk: 'low' },
      run: (_: unknown, { signal }) => ({ aborted: signal.aborted }),
    })
    const stop = new AbortController()
    const stopping = tool({
      name: 'stopping',
      inProcess: true,
      policy: { risk: 'low' },
      run: () => {
        stop.abort()
        return new Promise(() => undefined)
      },
    })
    const runtime = await cordon({ tools: [deaf, hearing, quick, stopping] })
    expect(await runtime.call('deaf', {})).toMatchObject({
      status: 'timeout',
      reason: expect.stringContaining('may still be running') as string,
      facts: { error: { code: 'tool-left-running' } },
    })
    expect(await runtime.call('hearing', {})).toMatchObject({
      status: 'timeout',
      facts: { error: { code: 'tool-timed-out' } },
    })
    expect(await runtime.call('quick', {})).toMatchObject({ status: 'ok', output: { aborted: false } })
    expect(await runtime.call('stopping', {}, { signal: stop.signal })).toMatchObject({
      status: 'cancelled',
      facts: { error: { code: 'tool-left-running' } },
    })
    // It was never started.
    expect(await runtime.call('deaf', {}, { signal: AbortSignal.abort() })).toMatchObject({
      status: 'cancelled',
      facts: { error: { code: 'cancelled' } },
    })
    expect(await runtime.call('hearing', {}, { signal: AbortSignal.abort() })).toMatchObject({
      status: 'cancelled',
      facts: { error: { code: 'cancelled' } },
    })
  })

  test('fails with the message of the thrown error', async () => {
    expect(await (await cordon({ tools: TOOLS })).call('throws', {})).toMatchObject({
      status: 'failed',
      reason: 'The tool failed: TypeError: not today',
    })
  })

  test('takes 10 MB, and returns 20 if the tool may', async () => {
    const half = 'x'.repeat(10_000_000)
    const result = await (
      await cordon({
        tools: [
          tool({
            name: 'twice',
            argumentGate: 'off',
            result: { bytes: 32 * 1024 * 1024 },
            run: (text: string) => text + text,
          }),
        ],
      })
    ).call('twice', half)
    expect(result.status).toBe('ok')
    expect(result.output === half + half).toBe(true)
  })

  test('loads a module with its imports, and nothing else of its folder', async () => {
    const folder = newFolder()
    writeFileSync(join(folder, 'helper.mjs'), 'export const double = (n) => 2 * n\n')
    writeFileSync(join(folder, 'other.txt'), 'SECRET')
    writeFileSync(
      join(folder, 'main.mjs'),
      "import { readFileSync } from 'node:fs'\nimport { double } from './helper.mjs'\nexport default ({ n, " +
        "path }) => path === undefined ? double(n) : readFileSync(path, 'utf8')\n",
    )
    const runtime = await cordon({
      tools: [tool({ name: 'module', module: join(folder, 'main.mjs'), argumentGate: 'off' })],
    })
    expect(await runtime.call('module', { n: 21 })).toMatchObject({ status: 'ok', output: 42 })
    expect(await runtime.call('module', { path: join(folder, 'other.txt') })).toMatchObject({ status: 'violated' })
  })

  test('shares nothing with the next call', async () => {
    const run = () => {
      const all = globalThis as { seen?: number }
      all.seen = (all.seen ?? 0) + 1
      return all.seen
    }
    const runtime = await cordon({ tools: [tool({ name: 'remember', run })] })
    const results = await Promise.all([1, 2, 3].map(() => runtime.call('remember', {})))
    expect(results.map(({ output }) => output)).toEqual([1, 1, 1])
  })
})

describe('a call of a process tool', () => {
  test('returns its streams and exit status', async () => {
    expect(await (await cordon({ tools: TOOLS })).call('sh', { script: 'echo out; echo err >&2' })).toMatchObject({
      status: 'ok',
      output: { exit_code: 0, stdout: 'out\n', stderr: 'err\n' },
    })
  })

  test('fails with its exit status and last output', async () => {
    expect(await (await cordon({ tools: TOOLS })).call('sh', { script: 'echo sorry >&2; exit 3' })).toMatchObject({
      status: 'failed',
      reason: 'The tool failed: exit status 3: sorry',
    })
  })

  test('is violated if a connection was refused', async () => {
    const result = await (
      await cordon({ tools: TOOLS })
    ).call('sh', { script: 'python3 -c "import socket; socket.create_connection((\'192.0.2.1\', 80), 2)"' })
    expect(result).toMatchObject({
      status: 'violated',
      facts: { violations: [{ kind: 'connect', address: '192.0.2.1', port: 80 }] },
    })
  })

  test('times out by its own limit, and can be cancelled', async () => {
    const slow = processTool({ name: 'slow', policy: { limits: { wall: '300ms' } }, command: () => ['sleep', '30'] })
    const runtime = await cordon({ tools: [slow, ...TOOLS] })
    expect(await runtime.call('slow', {})).toMatchObject({ status: 'timeout' })
    const controller = new AbortController()
    const call = runtime.call('sh', { script: 'sleep 30' }, { signal: controller.signal })
    setTimeout(() => {
      controller.abort()
    }, 200)
    expect(await call).toMatchObject({ status: 'cancelled' })
  })
})

describe('a call of an in-process tool', () => {
  test('says in its profile that nothing confines it', async () => {
    const runtime = await cordon({
      tools: [tool({ name: 'here', inProcess: true, policy: { risk: 'low' }, run: () => process.pid })],
    })
    expect(await runtime.call('here', {})).toMatchObject({
      status: 'ok',
      output: process.pid,
      facts: { sandbox_profile: { mode: 'none' } },
    })
  })
})

describe('an approval', () => {
  const RISKY = tool({ name: 'risky', policy: { risk: 'high' }, run: ({ n }: { n: number }) => n })
  const withApprover = (approve: Approve, approval = {}) =>
    cordon({ tools: [RISKY], mode: 'default', approve, approval })

  test('is requested, and allows exactly that call', async () => {
    const asked: unknown[] = []
    const runtime = await withApprover(({ input }) => {
      asked.push(input)
      return { kind: 'approve_once', by: 'ann' }
    })
    expect(await runtime.call('risky', { n: 1 })).toMatchObject({
      status: 'ok',
      output: 1,
      facts: { permission_decision: { decision_source: 'approver' } },
    })
    expect(await runtime.call('risky', { n: 1 })).toMatchObject({ status: 'ok' })
    expect(asked).toEqual([{ n: 1 }, { n: 1 }])
  })

  test('for the session is not requested again, except for other arguments', async () => {
    let asked = 0
    const runtime = await withApprover(() => {
      asked += 1
      return { kind: 'approve_for_scope', by: 'ann' }
    })
    await runtime.call('risky', { n: 1 })
    await runtime.call('risky', { n: 1 })
    expect(asked).toBe(1)
    await runtime.call('risky', { n: 2 })
    expect(asked).toBe(2)
  })

  test.each<readonly [string, Approve]>([
    ['a rejection', () => ({ kind: 'deny', by: 'ann', reason: 'not now' })],
    ['an approver that throws', () => Promise.reject(new Error('no'))],
    ['prose', () => 'yes, go ahead' as never],
    ['an answer of the caller itself', () => ({ kind: 'approve_once', by: 'agent' })],
  ])('is not %s', async (_name, approve) => {
    expect(await (await withApprover(approve)).call('risky', { n: 1 })).toMatchObject({ status: 'denied' })
  })

  test('that is late does not count', async () => {
    const runtime = await withApprover(() => new Promise(() => undefined), { timeout: 50 })
    expect(await runtime.call('risky', { n: 1 })).toMatchObject({ status: 'denied' })
  })

  test('with edited input runs that input', async () => {
    const runtime = await withApprover(() => ({ kind: 'modify', by: 'ann', input: { n: 7 } }))
    expect(await runtime.call('risky', { n: 1 })).toMatchObject({ status: 'ok', output: 7 })
  })

  test('fails at once as unavailable if nobody can answer', async () => {
    expect(await (await cordon({ tools: [RISKY], mode: 'default' })).call('risky', { n: 1 })).toMatchObject({
      status: 'denied',
      facts: { permission_decision: { decision: 'unavailable' } },
    })
  })
})

describe('hooks', () => {
  const after = (answer: object) => ({
    name: 'after',
    points: ['post_tool_use'] as const,
    source: 'session' as const,
    run: () => answer,
  })

  test('may replace or withhold the result of a call', async () => {
    const changed = await cordon({ tools: TOOLS, hooks: [after({ updatedOutput: 'changed', context: ['note'] })] })
    expect(await changed.call('add', { a: 1, b: 1 })).toMatchObject({
      status: 'ok',
      output: 'changed',
      context: ['note'],
    })
    const withheld = await (
      await cordon({ tools: TOOLS, hooks: [after({ suppressOutput: true })] })
    ).call('add', { a: 1, b: 1 })
    expect(withheld).toMatchObject({ status: 'ok' })
    expect(withheld.output).toBeUndefined()
  })

  test('that edit the input make the gate judge it again', async () => {
    const edit = {
      name: 'edit',
      points: ['pre_tool_use'] as const,
      source: 'session' as const,
      run: () => ({ updatedInput: { path: '/etc/shadow' } }),
    }
    expect(await (await cordon({ tools: TOOLS, hooks: [edit] })).call('read', { path: workspace })).toMatchObject({
      status: 'denied',
    })
  })
})

describe('the record', () => {
  test('is written before the call runs, and a call that cannot be recorded does not run', async () => {
    const folder = newFolder()
    const path = join(folder, 'audit.jsonl')
    const runtime = await cordon({ tools: TOOLS, audit: { path } })
    await runtime.call('add', { a: 1, b: 2 })
    const types = readFileSync(path, 'utf8')
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { event: { type: string } }).event.type)
    expect(types).toEqual(
      expect.arrayContaining([
        'session.started',
        'permission.evaluated',
        'tool.called',
        'sandbox.applied',
        'tool.completed',
      ]),
    )
    rmSync(folder, { recursive: true })
    const made = join(workspace, 'unrecorded')
    await expect(runtime.call('write', { path: made, text: 'x' })).rejects.toMatchObject({ code: 'audit-unwritable' })
    expect(existsSync(made)).toBe(false)
  })
})

describe('two runtimes', () => {
  test('in one process share neither constraints nor approvals', async () => {
    const once = () => tool({ name: 'once', constraints: { maxInvocations: 1 }, run: () => 'ran' })
    const [one, two] = await Promise.all([cordon({ tools: [once()] }), cordon({ tools: [once()] })])
    expect((await one.call('once', {})).status).toBe('ok')
    expect((await one.call('once', {})).status).toBe('denied')
    expect((await one.call('once', {}, { session: 'another' })).status).toBe('ok')
    expect((await two.call('once', {})).status).toBe('ok')
  })
})
