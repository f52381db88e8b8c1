// The user changes a write root while a call runs there, or while its cell is built.
import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { IN_MATRIX } from '../../../../test/turns.js'

import { boundaryOf, describeForms, mustRun } from './harness.js'
import type { Cell, RanCall } from './harness.js'
import { playground } from './playground.js'

/** On a busy machine no moment may be quiet enough to build a cell. Then the call is refused, and that is said. */
const disturbedAllAlong = (error: unknown): undefined => {
  expect(String(error), error instanceof Error ? error.stack : '').toMatch(
    /another program keeps changing|the boundary could not be built: stage \w+: .*\/inside\/c\/\S*: No such file or directory/,
  )
}

/** A call that waits until the user has done something. */
const meanwhile = async (cell: Cell, workspace: string, deed: () => void, script = 'true'): Promise<RanCall> => {
  let done = false
  const call = await cell.call(['/bin/sh', '-c', `${script}; echo ready; read go`], {
    policy: { filesystem: { write: [workspace] } },
    workspace,
    cwd: workspace,
    stdin: '',
    onStdout: (text) => {
      if (done || !text.includes('ready')) return
      done = true
      deed()
    },
  })
  expect(done, 'the user did it while the call ran').toBe(true)
  return mustRun(call)
}

/** A call that waits, and another one that makes .envrc in the same folder and goes on until the first has ended. */
const bothIn = async (
  cell: Cell,
  workspace: string,
  write: readonly string[],
): Promise<readonly [RanCall, RanCall]> => {
  const begin = (script: string, granted: readonly string[], onStdout: (text: string) => void) =>
    cell.call(['/bin/sh', '-c', script], {
      policy: { filesystem: { write: granted }, limits: { wall: '60s' } },
      workspace,
      cwd: workspace,
      onStdout,
    })
  let second: ReturnType<typeof begin> | undefined
  const first = await begin('echo ready; sleep 50', [workspace], () => {
    second ??= begin('echo mine > .envrc; until [ -e ended ]; do sleep 0.1; done', write, () => undefined)
  })
  writeFileSync(join(workspace, 'ended'), '')
  if (second === undefined) throw new Error('the second call did not begin')
  return [mustRun(first), mustRun(await second)]
}

const protectedIn = ({ result }: RanCall) =>
  result.violations.flatMap((violation) => (violation.kind === 'protected' ? [violation] : []))

const sourceRepository = (at: string): string => {
  execFileSync('git', ['init', '-q', at])
  execFileSync('git', ['-C', at, '-c', 'user.name=x', '-c', 'user.email=x', 'commit', '-q', '--allow-empty', '-m', 'x'])
  return at
}

describeForms('changes by the user while a call runs', (cell) => {
  test('leave a repository unchanged', async () => {
    const { inside, root } = playground()
    const source = sourceRepository(join(root, 'source'))
    const call = await meanwhile(cell, inside, () => {
      execFileSync('git', ['clone', '-q', source, join(inside, 'clone')])
      execFileSync('git', ['-C', join(inside, 'clone'), 'worktree', 'add', '-q', join(inside, 'tree')])
    })
    expect(call.result.violations).toEqual([])
    expect(execFileSync('git', ['-C', join(inside, 'tree'), 'status', '--porcelain'], { encoding: 'utf8' })).toBe('')
  })

  test("one command restores a file that could also be the tool's", async () => {
    const { inside } = playground()
    const call = await meanwhile(cell, inside, () => {
      writeFileSync(join(inside, '.envrc'), 'mine\n')
    })
    const [found] = protectedIn(call)
    expect(found).toMatchObject({ deed: 'set-aside', path: join(inside, '.envrc') })
    expect(existsSync(join(inside, '.envrc'))).toBe(false)
    execFileSync('/bin/sh', ['-c', found?.deed === 'set-aside' ? found.restore : 'false'])
    expect(readFileSync(join(inside, '.envrc'), 'utf8')).toBe('mine\n')
  })

  test('by another call are told to both calls, and neither succeeds', async () => {
    const { inside } = playground()
    const [first, second] = await bothIn(cell, inside, [inside])
    for (const call of [first, second]) {
      const [found] = protectedIn(call)
      expect(found).toMatchObject({ deed: 'set-aside', path: join(inside, '.envrc') })
      expect(found?.deed === 'set-aside' && existsSync(found.aside)).toBe(true)
      expect(call.result.status).not.toBe('exited')
    }
  })

  test('by another call that may make them are left to that call, which succeeds', async () => {
    const { inside } = playground()
    const [first, second] = await bothIn(cell, inside, [inside, join(inside, '.envrc')])
    expect(protectedIn(first)).toEqual([{ kind: 'protected', deed: 'shared', path: join(inside, '.envrc') }])
    expect(second.result).toMatchObject({ status: 'exited', exitCode: 0, violations: [] })
    expect(readFileSync(join(inside, '.envrc'), 'utf8')).toBe('mine\n')
  })

  test('are ignored where the tool can create nothing', async () => {
    const { inside, folder } = playground()
    folder('inside/.venv/src')
    const hook = join(inside, '.venv/src/x/.git/hooks/pre-commit')
    const call = await meanwhile(cell, inside, () => {
      mkdirSync(join(hook, '..'), { recursive: true })
      writeFileSync(hook, 'mine\n')
    })
    expect(protectedIn(call)).toEqual([])
    expect(existsSync(hook)).toBe(true)
  })

  test('leave a moved repository unchanged, although the call ends', async () => {
    const { inside, folder } = playground()
    folder('inside/sub')
    const source = sourceRepository(join(inside, 'here'))
    writeFileSync(join(source, '.git/hooks/pre-commit'), '#!/bin/sh\n', { mode: 0o755 })
    execFileSync('git', ['-C', source, 'config', 'core.pager', 'less'])
    const call = await meanwhile(cell, inside, () => {
      renameSync(source, join(inside, 'sub/there'))
    })
    expect(call.result.violations.map(({ kind }) => kind)).toContain('unsealed')
    expect(protectedIn(call)).toEqual([])
    expect(readdirSync(join(inside, 'sub/there/.git/hooks'))).toContain('pre-commit')
    expect(readFileSync(join(inside, 'sub/there/.git/config'), 'utf8')).toContain('pager')
  })

  test('the tool cannot plant the same in its place', async () => {
    const { inside, folder } = playground()
    folder('inside/sub')
    await cell.call(
      ['/bin/sh', '-c', 'mkdir -p sub/x/.git/hooks; echo evil > sub/x/.git/hooks/pre-commit; echo evil > sub/.envrc'],
      {
        policy: { filesystem: { write: [inside] } },
        workspace: inside,
        cwd: inside,
      },
    )
    expect(existsSync(join(inside, 'sub/x/.git/hooks/pre-commit'))).toBe(false)
    expect(existsSync(join(inside, 'sub/.envrc'))).toBe(false)
  })
})

describeForms('cells that are built while somebody clones and removes repositories', (cell) => {
  for (const [calls, options] of [
    [10, {}],
    [40, IN_MATRIX],
  ] as const)
    test(`start, and nothing is renamed (${String(calls)} cells)`, options, async () => {
      const { inside, root } = playground()
      const source = sourceRepository(join(root, 'source'))
      const loop =
        `while [ -e ${root}/source ]; do git clone -q ${source} ${inside}/c; git -C ${inside}/c config user.name ` +
        `value; rm -rf ${inside}/c; done`
      const host = spawn('/bin/sh', ['-c', loop], { stdio: 'ignore', detached: true })
      const ended = new Promise((resolve) => host.once('exit', resolve))
      const settings = {
        boundary: boundaryOf({ filesystem: { write: [inside] } }, inside, inside),
        form: cell.form,
        cwd: inside,
      }
      const pool = cell.sandbox.warm({ ...settings, program: '/bin/true' })
      const runs = [
        (): ReturnType<typeof pool.run> => pool.run({ argv: ['/bin/true'] }),
        () => cell.sandbox.run({ ...settings, argv: ['/bin/true'] }),
      ]
      const kinds = new Set<string>()
      let finished = 0
      try {
        for (let at = 0; at < calls; at += 1) {
          const result = await runs[at % 2]?.().catch(disturbedAllAlong)
          if (result?.status === 'exited') finished += 1
          for (const { kind } of result?.violations ?? []) kinds.add(kind)
        }
      } finally {
        pool.close()
        if (host.pid !== undefined) process.kill(-host.pid, 'SIGKILL')
        await ended
      }
      // A seal that is taken away while the program runs ends it; that is all.
      expect([...kinds].filter((kind) => kind !== 'unsealed')).toEqual([])
      expect(finished).toBeGreaterThan(0)
      expect(execFileSync('find', [inside, '-name', '*set-aside*'], { encoding: 'utf8' })).toBe('')
    })
})
