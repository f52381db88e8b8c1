// The launcher refuses everything that is not exactly a plan. A damaged plan never becomes a weaker boundary.
import { once } from 'node:events'

import { describe, expect, test } from 'vitest'

import { PLAN_VERSION } from '../../src/sandbox/plan/encode-plan.js'

import { onEvent, startLauncher, tell } from './launcher-line.js'

const BEGIN = [`cordon-plan-${PLAN_VERSION}`, 'form', 'landlock']
const SETTINGS = [
  ['cwd', '/'],
  ['temporary', '/tmp/cordon-plan-words'],
  ['cgroup', 'none'],
  ['network', 'none'],
  ['exec', 'all'],
  ['stdio', 'fff'],
  ['foreground', 'no'],
  ['clock', 'start'],
  ['delivery', 'gathered'],
  ['probe', 'yes'],
]
const COMPLETE = [...BEGIN, ...SETTINGS.flat(), 'end']

const bytes = (words: readonly string[]) => Buffer.from(words.map((word) => `${word}\0`).join(''))

/** The stage and words of the refusal; undefined when the plan was understood, whatever became of it then. */
const refusalOf = async (plan: Buffer): Promise<string | undefined> => {
  const launcher = startLauncher()
  let refusal: string | undefined
  onEvent(launcher, (event) => {
    if (event.event === 'error' && event.stage === 'plan') refusal = event.detail
    launcher.end()
  })
  tell(launcher, 'plan', plan)
  await once(launcher, 'close')
  return refusal
}

describe('a plan', () => {
  test('that is complete is accepted', async () => {
    expect(await refusalOf(bytes(COMPLETE))).toBeUndefined()
    expect(
      await refusalOf(
        bytes([...BEGIN, ...SETTINGS.toReversed().flat(), 'limit', 'wall', '1', 'trap', 'connect', 'end']),
      ),
    ).toBeUndefined()
  })

  test.each(SETTINGS.map(([word = '', value = '']) => ({ word, value })))(
    'without $word, or with two of it, is refused',
    async ({ word, value }) => {
      const others = SETTINGS.filter(([other]) => other !== word).flat()
      expect(await refusalOf(bytes([...BEGIN, ...others, 'end']))).toContain('missing')
      expect(await refusalOf(bytes([...BEGIN, word, value, ...others, word, value, 'end']))).toContain('twice')
    },
  )

  test.each([
    ['of another version', ['cordon-plan-0', ...COMPLETE.slice(1)], 'version'],
    ['without its form first', [COMPLETE[0] ?? '', ...COMPLETE.slice(3)], 'form'],
    ['with an unknown word', [...BEGIN, 'surprise', ...COMPLETE.slice(3)], 'unknown'],
    ['with an unknown form', [COMPLETE[0] ?? '', 'form', 'none', ...COMPLETE.slice(3)], 'form'],
    ['without its end', COMPLETE.slice(0, -1), 'cut short'],
    ['with words behind its end', [...COMPLETE, 'probe', 'no'], 'behind'],
    [
      'with a program where every program may run',
      [...BEGIN, ...SETTINGS.flat(), 'program', '/bin/true', 'end'],
      'program',
    ],
    ['with a limit of nothing', [...BEGIN, 'limit', 'wall', '0', ...COMPLETE.slice(3)], 'limit'],
    [
      'with two limits of one kind',
      [...BEGIN, 'limit', 'wall', '9', 'limit', 'wall', '1', ...COMPLETE.slice(3)],
      'twice',
    ],
    ['with an unknown limit', [...BEGIN, 'limit', 'surprise', '1', ...COMPLETE.slice(3)], 'limit'],
    ['with an unknown trap', [...BEGIN, 'trap', 'surprise', ...COMPLETE.slice(3)], 'trap'],
    ['with unknown access', [...BEGIN, 'allow', 'rq', '/usr', ...COMPLETE.slice(3)], 'access'],
    ['with a path that leads up', [...BEGIN, 'allow', 'r', '/usr/../etc', ...COMPLETE.slice(3)], 'path'],
  ])('%s is refused', async (_what, words, problem) => {
    expect(await refusalOf(bytes(words))).toContain(problem)
  })

  test('that is cut anywhere is refused', async () => {
    const whole = bytes(COMPLETE)
    const refusals = await Promise.all(
      [1, 20, 40, whole.length - 5, whole.length - 1].map((length) => refusalOf(whole.subarray(0, length))),
    )
    expect(refusals).not.toContain(undefined)
  })
})
