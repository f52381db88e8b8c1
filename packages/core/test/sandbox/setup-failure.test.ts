import { describe, expect, it } from 'vitest'

import { setupFailure } from '../../src/sandbox/result/setup-failure.js'

const failureAt = (stage: string, errno: number) =>
  setupFailure({ event: 'error', stage, errno, error: 'What the kernel said', detail: '/bin/x' })

describe('a failure to build a boundary', () => {
  it.each([
    'user-namespace',
    'mount-namespace',
    'proc',
    'root',
    'cwd',
    'landlock',
    'seccomp-listener',
    'scratch',
    'limits',
    'something-new',
  ])('at %s is an error that names the stage and a fix', (stage) => {
    const error = failureAt(stage, 1)
    expect(error).toMatchObject({ code: 'setup-failed', params: { stage, problem: '/bin/x: What the kernel said' } })
    expect(error.fix).not.toBe('')
  })

  it.each([
    ['that is not there', 2, 'program-not-found'],
    ['that may not be executed', 13, 'program-not-executable'],
    ['that is none', 8, 'program-not-executable'],
    ['with too many arguments', 7, 'program-not-executable'],
  ])('because of a program %s is reported as that', (_what, errno, code) => {
    expect(failureAt('exec', errno)).toMatchObject({ code })
  })

  it('because of an unknown plan is reported as a version mismatch', () => {
    expect(failureAt('plan', 22)).toMatchObject({ code: 'launcher-mismatch' })
  })
})
