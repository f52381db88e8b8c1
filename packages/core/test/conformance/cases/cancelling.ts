import { getEventListeners } from 'node:events'

import { expect } from 'vitest'

import { resultOfInterrupted } from '../../../src/sandbox/index.js'
import { area } from '../claim.js'
import type { Area } from '../claim.js'
import { textOf } from '../stage.js'

import { newMark, survivorsOf } from '../survivors.js'

export const cancelling: Area = area('Cancelling', [
  {
    claim: 'a call whose signal is already aborted does not run',
    given: { '@/w/': '' },
    tell: async ({ refusal, run, at }) => {
      expect(
        await refusal('echo ran > @/w/f', { policy: { filesystem: { write: ['@/w'] } }, signal: AbortSignal.abort() }),
      ).toMatchObject({ code: 'cancelled' })
      expect(
        textOf((await run(['/bin/ls', '-A', at('@/w')], { policy: { filesystem: { read: ['@/w'] } } })).stdout),
      ).toBe('')
    },
  },
  {
    claim: 'an abort ends the call and all its processes',
    tell: async ({ run }) => {
      const [abort, mark] = [new AbortController(), newMark()]
      const call = run(`(setsid sh -c 'sleep 300; : ${mark}' &) ; trap "" TERM; echo up; sleep 300; : ${mark}`, {
        signal: abort.signal,
        onStdout: () => {
          abort.abort(new Error('enough'))
        },
      })
      await expect(call).rejects.toMatchObject({ code: 'cancelled', cause: { message: 'enough' } })
      expect(await survivorsOf(mark)).toEqual([])
    },
  },
  {
    claim: 'a protected name from a cancelled call is renamed and reported',
    given: { '@/w/': '' },
    tell: async ({ refusal, at }) => {
      const abort = new AbortController()
      const plant = 'mkdir -p @/w/sub/.git/hooks; echo evil > @/w/sub/.git/hooks/pre-commit; echo up; sleep 300'
      const error = await refusal(plant, {
        policy: { filesystem: { write: ['@/w'] } },
        signal: abort.signal,
        onStdout: () => {
          abort.abort()
        },
      })
      expect(error).toMatchObject({ code: 'cancelled' })
      expect(resultOfInterrupted(error)?.violations).toMatchObject([
        { kind: 'protected', deed: 'set-aside', path: at('@/w/sub/.git/hooks/pre-commit') },
      ])
    },
  },
  {
    claim: 'an abort while the cell is being built ends it too',
    tell: async ({ run }) => {
      for (let turns = 0; turns < 8; turns += 1) {
        const [abort, mark] = [new AbortController(), newMark()]
        const call = run(`sleep 300; : ${mark}`, { signal: abort.signal })
        for (let turn = 0; turn < turns; turn += 1) await new Promise(setImmediate)
        abort.abort()
        await expect(call).rejects.toMatchObject({ code: 'cancelled' })
        expect(await survivorsOf(mark)).toEqual([])
      }
    },
  },
  {
    claim: 'an abort after the end changes nothing, and no listener is left',
    tell: async ({ run }) => {
      const abort = new AbortController()
      const result = await run('echo done', { signal: abort.signal })
      expect(getEventListeners(abort.signal, 'abort')).toEqual([])
      abort.abort()
      expect(textOf(result.stdout)).toBe('done\n')
    },
  },
  {
    claim: 'a time limit as a signal works',
    tell: async ({ refusal }) => {
      expect(await refusal('sleep 300', { signal: AbortSignal.timeout(200) })).toMatchObject({
        code: 'cancelled',
        cause: { name: 'TimeoutError' },
      })
    },
  },
  {
    claim: 'one of many calls can be cancelled without the others noticing',
    tell: async ({ run }) => {
      const abort = new AbortController()
      const calls = Array.from({ length: 6 }, (_, index) =>
        run(`sleep 0.2; echo ${String(index)}`, index === 3 ? { signal: abort.signal } : {}),
      )
      abort.abort()
      const settled = await Promise.allSettled(calls)
      expect(
        settled.map((outcome) => (outcome.status === 'fulfilled' ? textOf(outcome.value.stdout) : 'cancelled')),
      ).toEqual(['0\n', '1\n', '2\n', 'cancelled', '4\n', '5\n'])
    },
  },
])
