import { expect } from 'vitest'

import type { Backend } from '../backend.js'
import { area } from '../claim.js'
import type { Area } from '../claim.js'
import { stageAt, textOf } from '../stage.js'
import type { Stage } from '../stage.js'
import { newMark, survivorsOf } from '../survivors.js'

/** The same place with a backend that may be closed. */
const withOwn = async (stage: Stage, use: (own: Stage, backend: Backend) => Promise<void>): Promise<void> => {
  const backend = await stage.another()
  try {
    await use(stageAt(stage.root, backend, stage.another), backend)
  } finally {
    await backend.close()
  }
}

const WRITE = { filesystem: { write: ['@/w'] } }
/** The watcher is asked about the secret before the tool starts. */
const CARVED = { filesystem: { write: ['@/w'], read: ['!@/w/secret'] } }

export const closing: Area = area('Closing', [
  {
    claim: 'closing ends running calls, refuses them, and waits until nothing of them is left',
    given: { '@/w/': '' },
    tell: async (stage) => {
      await withOwn(stage, async ({ run }, backend) => {
        const mark = newMark()
        let begun = 0
        const call = async (policy: object) =>
          run(`echo up; sleep 300; : ${mark}`, {
            policy,
            onStdout: () => {
              begun += 1
            },
          }).catch((error: unknown) => error)
        const calls = [call({}), call(WRITE), call(WRITE)]
        while (begun < 3) await new Promise((resolve) => setTimeout(resolve, 10))
        await backend.close()
        for (const outcome of await Promise.all(calls)) expect(outcome).toMatchObject({ code: 'sandbox-closed' })
        expect(await survivorsOf(mark)).toEqual([])
      })
    },
  },
  {
    claim: 'closing while calls start leaves none behind',
    given: { '@/w/': '', '@/w/secret': 'SECRET' },
    tell: async (stage) => {
      const begun = performance.now()
      await stage.run('true', { policy: CARVED })
      const wholeCall = performance.now() - begun
      for (let part = 0.1; part < 1; part += 0.1) {
        await withOwn(stage, async ({ run }, backend) => {
          const mark = newMark()
          const call = run(`sleep 300; : ${mark}`, { policy: CARVED }).catch((error: unknown) => error)
          await new Promise((resolve) => setTimeout(resolve, part * wholeCall))
          await backend.close()
          expect(await call).toMatchObject({ code: 'sandbox-closed' })
          expect(await survivorsOf(mark)).toEqual([])
        })
      }
      for (let turns = 0; turns < 6; turns += 1) {
        await withOwn(stage, async ({ run }, backend) => {
          const mark = newMark()
          const calls = [{}, WRITE].map((policy) =>
            run(`sleep 300; : ${mark}`, { policy }).catch((error: unknown) => error),
          )
          for (let turn = 0; turn < turns; turn += 1) await new Promise(setImmediate)
          await backend.close()
          for (const outcome of await Promise.all(calls)) expect(outcome).toMatchObject({ code: 'sandbox-closed' })
          expect(await survivorsOf(mark)).toEqual([])
        })
      }
    },
  },
  {
    claim: 'files that a call wrote before closing ended it are still checked',
    given: { '@/w/': '' },
    tell: async (stage) => {
      await withOwn(stage, async ({ run, at }, backend) => {
        let begun = 0
        const call = run('git init -q @/w/r; echo evil > @/w/r/.git/hooks/pre-commit; echo up; sleep 300', {
          policy: WRITE,
          onStdout: () => {
            begun += 1
          },
        }).catch(() => undefined)
        while (begun === 0) await new Promise((resolve) => setTimeout(resolve, 10))
        await backend.close()
        await call
        expect(
          textOf(
            (await stage.run(['/bin/ls', at('@/w/r/.git/hooks')], { policy: { filesystem: { read: ['@/w'] } } }))
              .stdout,
          ),
        ).not.toContain('pre-commit\n')
      })
    },
  },
  {
    claim: 'after closing a call is refused, and closing again is allowed',
    tell: async (stage) => {
      await withOwn(stage, async ({ refusal }, backend) => {
        await backend.close()
        expect(await refusal('true')).toMatchObject({ code: 'sandbox-closed' })
        expect(await refusal('true', { policy: { filesystem: { write: ['@/.'] } } })).toMatchObject({
          code: 'sandbox-closed',
        })
        await backend.close()
      })
    },
  },
])
