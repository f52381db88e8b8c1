import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'

import { expect, test } from 'vitest'

import { IN_MATRIX } from '../../../../test/turns.js'

import { inMainCells } from './harness.js'
import { hostScript } from './host-script.js'
import type { HostRequest } from './host-script.js'
import { playground } from './playground.js'
import { newMark, survivorsOf, untilRunning } from './survivors.js'
import { describeCells } from './walled.js'

// The full load is CORDON_ATTACK_CALLS=2000. The matrix takes a tenth, and `npm test` a fiftieth.
const LOADS = [
  [40, {}],
  [Number(process.env['CORDON_ATTACK_CALLS'] ?? 200), IN_MATRIX],
] as const
const AT_ONCE = 16
const HOSTS = 2

/**
 * What others make meanwhile: folders of tests and scripts (`cordon-pg-x1Y2z3`), and of the cells of other tests.
 * The hosts of this file get a temporary folder of their own, in which nothing of their cells may stay.
 */
const OF_OTHERS = /^cordon-([a-z][a-z-]*-[A-Za-z0-9]{6}|[0-9a-f]{24})$/

/** An own temporary folder for a host process. */
const ownTemporary = (root: string): { readonly folder: string; readonly env: NodeJS.ProcessEnv } => {
  const folder = join(root, 'temporary')
  mkdirSync(folder, { mode: 0o1777 })
  return { folder, env: { ...process.env, TMPDIR: folder } }
}

/** What could be left lying around. */
const traces = (): readonly string[] =>
  ['/tmp', '/dev/shm', '/var/tmp', process.env['XDG_RUNTIME_DIR'] ?? '/run/user/0'].flatMap((folder) => {
    try {
      return readdirSync(folder)
        .filter((name) => /cordon/i.test(name) && !OF_OTHERS.test(name))
        .map((name) => join(folder, name))
    } catch {
      return []
    }
  })

/** What is there now, was not before, and does not go away: calls of other tests have traces too, while they run. */
const lastingTraces = async (before: readonly string[], temporary: string): Promise<readonly string[]> => {
  const own = readdirSync(temporary).map((name) => join(temporary, name))
  let left = [...own, ...traces().filter((path) => !before.includes(path))]
  for (let look = 0; look < 100 && left.length > 0; look += 1) {
    await wait(100)
    left = left.filter((path) => existsSync(path))
  }
  return left
}

const mountsOf = (pid: string): number => readFileSync(`/proc/${pid}/mountinfo`, 'utf8').split('\n').length

describeCells('many calls at once in one directory', (cell) => {
  for (const [calls, options] of LOADS)
    test(
      `${String(calls)} calls, ${String(AT_ONCE)} in flight, from ${String(HOSTS)} host processes: none fails and nothing stays`,
      options,
      async () => {
        const { inside, root } = playground()
        const mark = newMark()
        const [before, mounts, temporary] = [traces(), mountsOf('self'), ownTemporary(root)]
        const request: HostRequest = {
          form: cell.form,
          backend: cell.backend,
          // Process numbers repeat from cell to cell, so they make no unique names here.
          argv: [
            '/bin/sh',
            '-c',
            `own=$(mktemp -d ./own.XXXXXX) && echo x > "$own/file" && rm -r "$own" && echo ${mark}`,
          ],
          write: [inside],
          cwd: inside,
          calls: Math.ceil(calls / HOSTS),
          atOnce: AT_ONCE / HOSTS,
        }
        const path = join(root, 'request.json')
        writeFileSync(path, JSON.stringify(request))
        const script = hostScript(root)
        const outputs = await Promise.all(
          Array.from({ length: HOSTS }, () =>
            text(
              spawn(process.execPath, [script, path], { env: temporary.env, stdio: ['ignore', 'pipe', 'inherit'] })
                .stdout,
            ),
          ),
        )
        for (const output of outputs)
          expect(JSON.parse(output.trimEnd().split('\n').at(-1) ?? '{}')).toEqual({
            done: Math.ceil(calls / HOSTS),
            failures: [],
            failed: 0,
          })
        expect(readdirSync(inside)).toEqual([])
        expect(await survivorsOf(mark)).toEqual([])
        expect(await lastingTraces(before, temporary.folder)).toEqual([])
        expect(mountsOf('self')).toBe(mounts)
      },
    )

  test('leave nothing behind if a host process is killed in the middle', inMainCells(cell), async () => {
    const { inside, root } = playground()
    const mark = newMark()
    const [before, temporary] = [traces(), ownTemporary(root)]
    const request: HostRequest = {
      form: cell.form,
      backend: cell.backend,
      argv: ['/bin/sh', '-c', `echo scratch > "\${TMPDIR:-/tmp}/x"; sleep 61; echo ${mark}`],
      write: [inside],
      cwd: inside,
      calls: 16,
      atOnce: 16,
    }
    const path = join(root, 'request.json')
    writeFileSync(path, JSON.stringify(request))
    const host = spawn(process.execPath, [hostScript(root), path], {
      env: temporary.env,
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    await untilRunning(mark)
    host.kill('SIGKILL')
    expect(await survivorsOf(mark)).toEqual([])
    expect(readdirSync(inside)).toEqual([])
    expect(await lastingTraces(before, temporary.folder)).toEqual([])
  })

  test("do not change the host's own handling of signals and children", inMainCells(cell), async () => {
    const { root } = playground()
    const script = join(root, 'signals.mjs')
    writeFileSync(
      join(root, 'request.json'),
      JSON.stringify({ form: cell.form, backend: cell.backend, argv: ['/bin/true'] } satisfies HostRequest),
    )
    const host = hostScript(root)
    writeFileSync(
      script,
      `let heard = 0; process.on('SIGTERM', () => { heard += 1 }); process.on('SIGINT', () => { heard += 1 })
const { spawnSync } = await import('node:child_process')
process.argv[2] = ${JSON.stringify(join(root, 'request.json'))}
await import(${JSON.stringify(host)})
process.kill(process.pid, 'SIGTERM'); process.kill(process.pid, 'SIGINT')
await new Promise((resolve) => setTimeout(resolve, 100))
console.log('heard ' + heard + ' listeners ' + process.listenerCount('SIGTERM') + ' child ' + spawnSync('/bin/sh', ['-c', 'exit 4']).status)`,
    )
    const output = await text(spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] }).stdout)
    expect(output.trimEnd().split('\n').at(-1)).toBe('heard 2 listeners 1 child 4')
  })

  test('in one process do not mix their outputs', async () => {
    const { inside } = playground()
    const results = await Promise.all(
      Array.from({ length: 24 }, async (_, index) => {
        const call = await cell.run(['/bin/sh', '-c', `for i in 1 2 3 4 5; do echo ${String(index)}; done`], {
          policy: { filesystem: { write: [inside] } },
        })
        return call.stdout === `${String(index)}\n`.repeat(5)
      }),
    )
    expect(results.every(Boolean)).toBe(true)
  })
})
