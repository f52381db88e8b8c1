// A runtime with its calls in the registry of a team: real cells, and a real database of either kind.
import { randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, existsSync, realpathSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { createCordon, processTool, tool } from 'cordon'
import type { Cordon, CordonOptions, ToolDefinition } from 'cordon'
import { openSandbox } from 'cordon/sandbox'
import { teamRegistry } from '@cordon/team'
import {
  addMember,
  assignTool,
  cancelInvocation,
  claimInvocations,
  invokeTool,
  registerTool,
  requireInvocation,
  requireTool,
  sendHeartbeat,
  speakingAs,
} from '../../src/store/index.js'
import type { Engine, Role } from '../../src/store/index.js'

import { describeEngines, openEngine } from './engines.js'
import { perform } from './perform.js'

/**
 * How often a runtime looks after its database, for a test that waits for that; others are not to be lost on a slow
 * machine.
 */
const SILENT_MS = 6_000

describeEngines('calls in the registry of a team', (name) => {
  const workspace = realpathSync(mkdtempSync(join(tmpdir(), 'cordon-registry-')))
  let engine: Engine
  let holds: readonly string[] = []
  let close: () => Promise<void>
  const as = (role: Role, actor: string) => speakingAs(engine, { kind: 'gateway', role, actor })
  const anna = () => as('cordon_operator', 'anna')
  const admin = () => as('cordon_admin', 'ada')

  beforeAll(async () => {
    ;({ engine, close } = await openEngine(name))
    const sandbox = await openSandbox()
    holds = sandbox.mechanisms()
    await sandbox.close()
    await addMember(as('service_role', 'founder'), 'team', 'ada', 'admin')
    for (const [actor, kind] of [
      ['anna', 'operator'],
      ['agent-1', 'agent'],
      ['agent-1', 'runner'],
    ] as const)
      await addMember(admin(), 'team', actor, kind)
    for (const [key, egressClass, requiresApproval] of [
      ['add', 'none', false],
      ['many', 'none', false],
      ['note', 'write', true],
      ['count', 'none', false],
      ['wait', 'none', false],
    ] as const)
      await assignTool(
        admin(),
        'agent-1',
        await registerTool(admin(), { owner: 'team', key, egressClass, requiresApproval }),
      )
    await assignTool(
      admin(),
      'agent-1',
      await registerTool(admin(), {
        owner: 'team',
        key: 'held',
        egressClass: 'none',
        requiresApproval: false,
        needsLabels: ['desk'],
        needsBoundary: holds.slice(0, 1),
      }),
    )
    await assignTool(
      admin(),
      'agent-1',
      await registerTool(admin(), {
        owner: 'team',
        key: 'rare',
        egressClass: 'none',
        requiresApproval: false,
        needsLabels: ['rare-earth'],
        needsBoundary: [...holds.slice(0, 1), 'moat'],
      }),
    )
  })
  afterAll(async () => {
    await close()
    rmSync(workspace, { recursive: true, force: true })
  })

  const open = (more: readonly ToolDefinition[] = [], times: { readonly silentMs?: number } = {}): Promise<Cordon> =>
    createCordon({
      workspace,
      mode: 'default',
      registry: teamRegistry({
        engine,
        owner: 'team',
        agent: 'agent-1',
        runner: 'runtime',
        speaks: 'gateway',
        labels: ['desk'],
        ...times,
      }),
      // What the registry allows is allowed here; what it asks about is asked there.
      rules: [
        {
          rules: [
            {
              effect: 'allow',
              tool: ['add', 'many', 'note', 'count', 'wait', 'held', 'rare', 'unlisted'],
              because: 'the registry decides',
            },
          ],
        },
      ],
      tools: [
        tool({
          name: 'add',
          description: 'adds',
          input: { type: 'object' },
          policy: {},
          run: ({ a, b }: { a: number; b: number }) => a + b,
        }),
        processTool({
          name: 'note',
          description: 'writes',
          input: { type: 'object' },
          policy: { filesystem: { write: ['.'] } },
          command: ({ file }: { file: string }) => ['sh', '-c', 'echo noted > "$0"', file],
        }),
        tool({
          name: 'many',
          description: 'answers a lot',
          input: { type: 'object' },
          policy: {},
          result: { elements: 100_000 },
          run: ({ count }: { count: number }) => Array.from({ length: count }, () => 1e300),
        }),
        processTool({
          name: 'count',
          description: 'counts its runs',
          input: { type: 'object' },
          policy: { egress_class: 'none', filesystem: { write: ['.'] } },
          command: ({ file }: { file: string }) => ['sh', '-c', 'echo run >> "$0"; grep -c run "$0"', file],
        }),
        processTool({
          name: 'wait',
          description: 'takes a while',
          input: { type: 'object' },
          policy: { egress_class: 'none', filesystem: { write: ['.'] } },
          command: ({ file, seconds }: { file: string; seconds: number }) => [
            'sh',
            '-c',
            'echo began > "$0"; sleep "$1"; echo done > "$0.done"',
            file,
            String(seconds),
          ],
        }),
        tool({ name: 'held', description: 'needs what is here', input: { type: 'object' }, policy: {}, run: () => 1 }),
        tool({
          name: 'rare',
          description: 'needs what is not here',
          input: { type: 'object' },
          policy: {},
          run: () => 1,
        }),
        ...more,
        tool({
          name: 'unlisted',
          description: 'is in no registry',
          input: { type: 'object' },
          policy: {},
          run: () => 1,
        }),
      ],
    })
  const withCordon = async (
    work: (cordon: Cordon) => Promise<void>,
    times: { readonly silentMs?: number } = {},
  ): Promise<void> => {
    const cordon = await open([], times)
    try {
      await work(cordon)
    } finally {
      await cordon.close()
    }
  }
  test(
    'a result that the registry does not take ends the call as failed, and says so to its caller and in the ' +
      'registry; a smaller one is kept',
    async () => {
      await withCordon(async (cordon) => {
        const ids: string[] = []
        const call = (count: number) => cordon.call('many', { count }, { onInvocation: (id) => ids.push(id) })
        // Some 400 KB, and 18 MB once every digit is written.
        expect(await call(60_000)).toMatchObject({
          status: 'failed',
          reason: expect.stringContaining('could not be stored') as string,
        })
        expect(await requireInvocation(admin(), ids[0] ?? '')).toMatchObject({
          status: 'failed',
          output: null,
          error: expect.stringMatching(/^result-not-kept: .*larger than 16 MB/) as string,
        })
        expect(await call(10)).toMatchObject({ status: 'ok' })
        expect(await requireInvocation(admin(), ids[1] ?? '')).toMatchObject({
          status: 'completed',
          output: Array.from({ length: 10 }, () => 1e300),
        })
      })
    },
  )

  const question = async (): Promise<{ readonly id: string; readonly hash: string }> => {
    await expect.poll(async () => (await perform(anna(), 'listQuestions', { team: 'team' })).length).toBe(1)
    const [asked] = await perform(anna(), 'listQuestions', { team: 'team' })
    return { id: asked?.subjectId ?? '', hash: asked?.argumentsHash ?? '' }
  }
  const rowsOf = (key: string) =>
    engine.query<{ status: string; output: unknown; input: unknown; usage: Record<string, unknown> | null }>(
      'select * from agents.tool_invocations where tool_key = $1 order by created_at',
      [key],
    )

  test('one without approval runs at once, and its result is there', async () => {
    await withCordon(async (cordon) => {
      expect(await cordon.call('add', { a: 2, b: 3 })).toMatchObject({ status: 'ok', output: 5 })
    })
    expect((await rowsOf('add')).slice(-1)).toMatchObject([
      { status: 'completed', output: 5, input: { a: 2, b: 3 }, usage: { status: 'ok' } },
    ])
  })

  test('one can belong to a run, with an expected cost, and is refused for an unapproved run', async () => {
    const { id: run } = await perform(as('cordon_agent', 'agent-1'), 'startRun', {
      team: 'team',
      name: 'nightly',
      plan: {},
    })
    await withCordon(async (cordon) => {
      const ids: string[] = []
      const call = () =>
        cordon.call(
          'add',
          { a: 1, b: 1 },
          { registry: { run, step: 'sum', costEstimate: 0.25 }, onInvocation: (id) => ids.push(id) },
        )
      expect(await call()).toMatchObject({ status: 'denied', reason: expect.stringContaining('is not open') as string })
      await anna().query('select agents.fn_decide_team_run($1, $2, p_plan_hash => $3)', [
        run,
        'approve',
        (await question()).hash,
      ])
      expect(await call()).toMatchObject({ status: 'ok', output: 2 })
      expect(await requireInvocation(admin(), ids[0] ?? '')).toMatchObject({
        teamRunId: run,
        costEstimate: 0.25,
        status: 'completed',
      })
      expect(await engine.query('select step_id from agents.tool_invocations where id = $1', [ids[0]])).toEqual([
        { step_id: 'sum' },
      ])
      await expect(
        cordon.call('add', { a: 1, b: 1 }, { registry: { costEstimate: Number.NaN } }),
      ).rejects.toMatchObject({ code: 'option-invalid' })
    })
  })

  test('one of the class write waits for a person, and runs after the approval', async () => {
    await withCordon(async (cordon) => {
      const result = cordon.call('note', { file: 'yes.txt' })
      const { id, hash } = await question()
      expect(existsSync(join(workspace, 'yes.txt'))).toBe(false)
      await perform(anna(), 'approve', { id, shownHash: hash })
      expect(await result).toMatchObject({ status: 'ok' })
      expect((await result).facts.permission_decision).toMatchObject({ decision: 'allow' })
      expect(readFileSync(join(workspace, 'yes.txt'), 'utf8')).toBe('noted\n')
      expect(await requireInvocation(anna(), id)).toMatchObject({ status: 'completed', approvalDecidedBy: 'anna' })
    })
  })

  test('one that is rejected does not run, and has the reason', async () => {
    await withCordon(async (cordon) => {
      const result = cordon.call('note', { file: 'no.txt' })
      await perform(anna(), 'reject', { id: (await question()).id, reason: 'not this file' })
      expect(await result).toMatchObject({
        status: 'denied',
        reason: expect.stringContaining('not this file') as string,
      })
      expect(existsSync(join(workspace, 'no.txt'))).toBe(false)
    })
  })

  describe('no other process starts what this runtime refuses or cannot record', () => {
    const ADD = tool({
      name: 'add',
      description: 'adds',
      input: { type: 'object' },
      policy: {},
      run: ({ a, b }: { a: number; b: number }) => a + b,
    })
    const COUNT = processTool({
      name: 'count',
      description: 'counts its runs',
      input: { type: 'object' },
      policy: { egress_class: 'none', filesystem: { write: ['.'] } },
      command: ({ file }: { file: string }) => ['sh', '-c', 'echo run >> "$0"; grep -c run "$0"', file],
    })
    const opened = async (
      more: Partial<CordonOptions>,
      execution: 'here' | 'runners',
      work: (cordon: Cordon) => Promise<void>,
    ): Promise<void> => {
      const cordon = await createCordon({
        workspace,
        mode: 'on_request',
        tools: [ADD, COUNT],
        registry: teamRegistry({
          engine,
          owner: 'team',
          agent: 'agent-1',
          runner: 'runtime',
          speaks: 'gateway',
          execution,
        }),
        ...more,
      })
      try {
        await work(cordon)
      } finally {
        await cordon.close().catch(() => undefined)
      }
    }
    const ruled = (effect: 'allow' | 'ask' | 'deny') => ({
      rules: [{ rules: [{ effect, tool: 'add', because: 'test' }] }],
    })
    /** Calls it, and goes away as soon as it is in the registry. */
    const registeredBy = async (
      more: Partial<CordonOptions>,
    ): Promise<{ readonly ids: readonly string[]; readonly status: string }> => {
      const ids: string[] = []
      const leave = new AbortController()
      let status = ''
      await opened(more, 'runners', async (cordon) => {
        const onInvocation = (id: string) => {
          ids.push(id)
          setTimeout(() => {
            leave.abort()
          }, 50)
        }
        ;({ status } = await cordon.call('add', { a: 1, b: 2 }, { signal: leave.signal, onInvocation }))
      })
      return { ids, status }
    }

    test('a call that a local rule denies never reaches the queue of runners, and an allowed one does', async () => {
      const before = (await rowsOf('add')).length
      expect(await registeredBy(ruled('deny'))).toEqual({ ids: [], status: 'denied' })
      expect(await rowsOf('add')).toHaveLength(before)
      expect(await registeredBy(ruled('allow'))).toMatchObject({ ids: [expect.any(String)], status: 'cancelled' })
    })

    test('a call that needs a local approval reaches the queue only after that approval', async () => {
      const before = (await rowsOf('add')).length
      const seen: number[] = []
      const approve = (kind: 'deny' | 'approve_once') => async () => {
        seen.push((await rowsOf('add')).length - before)
        return { kind, by: 'ann', reason: 'test' }
      }
      expect(await registeredBy({ ...ruled('ask'), mode: 'default', approve: approve('deny') })).toEqual({
        ids: [],
        status: 'denied',
      })
      expect(await registeredBy({ ...ruled('ask'), mode: 'default', approve: approve('approve_once') })).toMatchObject({
        ids: [expect.any(String)],
        status: 'cancelled',
      })
      expect(seen).toEqual([0, 0])
    })

    /** Takes the log away as soon as it has told of this. */
    const withLogUntil = async (
      type: 'hook.completed' | 'process.started' | 'session.ended',
      work: (cordon: Cordon) => Promise<void>,
    ): Promise<void> => {
      const folder = realpathSync(mkdtempSync(join(tmpdir(), 'cordon-registry-log-')))
      const path = join(folder, 'audit.jsonl')
      await opened({ audit: { path } }, 'here', async (cordon) => {
        cordon.on(type, () => {
          if (existsSync(path)) renameSync(path, `${path}.gone`)
        })
        await work(cordon)
      })
      rmSync(folder, { recursive: true, force: true })
    }

    test('a call whose start cannot be recorded does not run, and leaves no approved row behind', async () => {
      await withLogUntil('hook.completed', async (cordon) => {
        await expect(cordon.call('count', { file: 'unrecorded' })).rejects.toMatchObject({
          agentMessage: expect.stringContaining('it was not run') as string,
        })
      })
      expect(existsSync(join(workspace, 'unrecorded'))).toBe(false)
      expect((await rowsOf('count')).at(-1)).toMatchObject({
        status: 'failed',
        error: expect.stringContaining('it was not begun') as string,
      })
    })

    test('a call whose end cannot be recorded has run, and its error says so, and a recorded one is ok', async () => {
      await withLogUntil('process.started', async (cordon) => {
        await expect(cordon.call('count', { file: 'half-recorded' })).rejects.toMatchObject({
          code: 'end-not-recorded',
          agentMessage: expect.stringContaining('The tool ran') as string,
        })
      })
      expect(readFileSync(join(workspace, 'half-recorded'), 'utf8')).toBe('run\n')
      expect((await rowsOf('count')).at(-1)).toMatchObject({ status: 'completed' })
      await withLogUntil('session.ended', async (cordon) => {
        expect(await cordon.call('count', { file: 'recorded' })).toMatchObject({ status: 'ok' })
      })
    })
  })

  test('one of an unknown tool is refused', async () => {
    await withCordon(async (cordon) => {
      expect(await cordon.call('unlisted', {})).toMatchObject({ status: 'denied' })
    })
  })

  test('one whose caller went away during an approval is resumed by another, and runs once', async () => {
    const first = await open()
    void first.call('note', { file: 'later.txt' }).catch(() => undefined)
    const { id, hash } = await question()
    await first.close()
    expect(await requireInvocation(anna(), id)).toMatchObject({ status: 'pending' })
    await withCordon(async (second) => {
      const result = second.call('note', { file: 'later.txt' }, { invocation: id })
      await perform(anna(), 'approve', { id, shownHash: hash })
      expect(await result).toMatchObject({ status: 'ok' })
      expect(await requireInvocation(anna(), id)).toMatchObject({ status: 'completed', fence: '1' })
    })
  })

  test('one that has ended returns its result again, and does not run again', async () => {
    const ids: string[] = []
    await withCordon(async (first) => {
      expect(await first.call('count', { file: 'runs' }, { onInvocation: (id) => ids.push(id) })).toMatchObject({
        status: 'ok',
        output: { stdout: '1\n' },
      })
    })
    const [id = ''] = ids
    await withCordon(async (second) => {
      const started: unknown[] = []
      second.on('process.started', (event) => started.push(event))
      const again = await second.call('count', { file: 'runs' }, { invocation: id })
      expect(again).toMatchObject({
        status: 'ok',
        output: { stdout: '1\n' },
        facts: { registered: { invocation: id, runner: expect.stringMatching(/^runtime\//) as string } },
      })
      expect(started).toEqual([])
      expect(readFileSync(join(workspace, 'runs'), 'utf8')).toBe('run\n')
      // About something else it is nobody's, and a call of its own runs.
      expect(await second.call('count', { file: 'other' }, { invocation: id })).toMatchObject({ status: 'denied' })
      expect(await second.call('count', { file: 'runs' })).toMatchObject({ status: 'ok', output: { stdout: '2\n' } })
    })
  })

  /**
   * As if its runner had been silent for too long, in one breath (the server has not been there for a minute): it is
   * heard again with its next heartbeat.
   */
  const loseRunners = () =>
    engine.transaction(async ({ query }) => {
      await query(`update agents.runners set last_seen = now() - interval '1 hour', lease = interval '1 second'`)
      await query('select agents.fn_recover_lost_invocations()')
    })

  test('one that is given to another runner is killed, whatever its process believes, and others continue', async () => {
    await withCordon(async (cordon) => {
      const ids: string[] = []
      const result = cordon.call('wait', { file: 'lost', seconds: 50 }, { onInvocation: (id) => ids.push(id) })
      await expect.poll(() => existsSync(join(workspace, 'lost'))).toBe(true)
      await loseRunners()
      expect(await result).toMatchObject({ status: 'failed' })
      expect(existsSync(join(workspace, 'lost.done'))).toBe(false)
      expect(await requireInvocation(anna(), ids[0] ?? '')).toMatchObject({
        status: 'approved',
        runner: null,
        output: null,
      })
      expect(await cordon.call('wait', { file: 'kept', seconds: 0 })).toMatchObject({ status: 'ok' })
      expect(existsSync(join(workspace, 'kept.done'))).toBe(true)
    })
  })

  test('one that runs in another process can be awaited', async () => {
    const first = await open()
    const ids: string[] = []
    const running = first.call('wait', { file: 'shared', seconds: 2 }, { onInvocation: (id) => ids.push(id) })
    await expect.poll(() => existsSync(join(workspace, 'shared'))).toBe(true)
    await withCordon(async (second) => {
      expect(await second.call('wait', { file: 'shared', seconds: 2 }, { invocation: ids[0] ?? '' })).toMatchObject({
        status: 'ok',
      })
    })
    expect(await running).toMatchObject({ status: 'ok' })
    expect(await requireInvocation(anna(), ids[0] ?? '')).toMatchObject({ status: 'completed', fence: '1' })
    await first.close()
  })

  test('each process is its own runner, and reports the facts of its host', async () => {
    await withCordon(async () => {
      await withCordon(async () => {
        const rows = await engine.query<{ name: string; labels: string[]; holds: string[] }>(
          `select name, labels, holds from agents.runners where name like 'runtime/%' order by first_seen desc limit 2`,
        )
        expect(new Set(rows.map(({ name: each }) => each)).size).toBe(2)
        expect(rows[0]).toMatchObject({ labels: ['desk'], holds })
      })
    })
  })

  test(
    'one of a tool that needs what this host has runs here; of one that needs more it is said what is missing, ' +
      'before anybody is asked',
    async () => {
      await withCordon(async (cordon) => {
        expect(await cordon.call('held', {})).toMatchObject({ status: 'ok' })
        expect(await cordon.call('rare', {})).toMatchObject({
          status: 'denied',
          reason: 'This tool cannot run on this host.',
          facts: {
            error: {
              code: 'tool-not-for-this-host',
              message: expect.stringContaining(
                'this host does not have the label rare-earth, the mechanism moat',
              ) as string,
            },
          },
        })
        expect(await rowsOf('rare')).toEqual([])
      })
    },
  )

  test(
    'a tool whose policy reaches further than its registered class is refused from the start; one that is ' +
      'registered as it is is not',
    async () => {
      const post = tool({
        name: 'post',
        description: 'posts',
        input: { type: 'object' },
        policy: { network: [{ host: 'api.example.org', methods: ['POST'] }] },
        run: () => 1,
      })
      await assignTool(
        admin(),
        'agent-1',
        await registerTool(admin(), { owner: 'team', key: 'post', egressClass: 'read_only', requiresApproval: false }),
      )
      await expect(open([post])).rejects.toMatchObject({
        code: 'tool-not-as-registered',
        message: expect.stringContaining(
          'registered with the class read_only, and its policy has the class write',
        ) as string,
      })
      await registerTool(admin(), { owner: 'team', key: 'post', egressClass: 'write' })
      await (await open([post])).close()
    },
  )

  test('a runtime with its own database connection does the upkeep: it finds a call of a dead process, which can run again', async () => {
    const agent = as('cordon_agent', 'agent-1')
    const id = await invokeTool(agent, {
      toolId: (await requireTool(admin(), 'team', 'wait')).id,
      agent: 'agent-1',
      input: { file: 'gone', seconds: 0 },
      dispatch: 'caller',
      request: randomUUID(),
    })
    const runner = as('cordon_runner', 'agent-1')
    await sendHeartbeat(runner, { name: 'gone/1', labels: [], holds: [], isDraining: false, leaseMs: 1_000 })
    await claimInvocations(runner, 'gone/1', { id })
    expect(await requireInvocation(anna(), id)).toMatchObject({ status: 'running' })
    await withCordon(
      async () => {
        await expect.poll(async () => (await requireInvocation(anna(), id)).status).toBe('approved')
      },
      { silentMs: SILENT_MS },
    )
  })

  test('one that is cancelled during an approval is no longer pending', async () => {
    await withCordon(async (cordon) => {
      const given = new AbortController()
      const result = cordon.call('note', { file: 'never.txt' }, { signal: given.signal })
      await question()
      given.abort()
      expect(await result).toMatchObject({ status: 'cancelled' })
      await expect.poll(async () => (await perform(anna(), 'listQuestions', { team: 'team' })).length).toBe(0)
    })
  })

  test('a stop of the team reaches a runtime that is already open', async () => {
    await withCordon(async (cordon) => {
      await as('cordon_operator', 'anna').query(`select agents.fn_stop('team', 'kill', 'incident')`)
      expect(await cordon.call('add', { a: 1, b: 1 })).toMatchObject({
        status: 'denied',
        reason: expect.stringContaining('stopped') as string,
      })
      await as('cordon_operator', 'anna').query(`select agents.fn_resume('team')`)
      expect(await cordon.call('add', { a: 1, b: 1 })).toMatchObject({ status: 'ok' })
    })
  })

  test('a trial decision requests no approval', async () => {
    const before = (await rowsOf('note')).length
    await withCordon(async (cordon) => {
      await cordon.evaluate('note', { file: 'tried.txt' })
    })
    expect((await rowsOf('note')).length).toBe(before)
    await expect(cancelInvocation(anna(), '00000000-0000-0000-0000-000000000000')).rejects.toMatchObject({
      code: 'store-missing',
    })
  })
})
