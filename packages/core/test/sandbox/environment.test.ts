import { describe, expect, it } from 'vitest'

import { buildEnvironment } from '../../src/sandbox/plan/environment.js'
import { boundaryOf, path } from '../policy/places.js'

const build = (entries: readonly string[], host: Readonly<Record<string, string>>) =>
  buildEnvironment(boundaryOf({ environment: entries }), host, path('/tmp/private'))

describe('the environment of a cell', () => {
  it('inherits nothing: only three variables that describe the cell', () => {
    const environment = build([], { HOME: '/root', PATH: '/evil', TOKEN: 'secret', LD_PRELOAD: '/evil.so' })
    expect(environment).toEqual({ PATH: expect.any(String) as string, HOME: '/tmp/private', TMPDIR: '/tmp/private' })
    expect(environment['PATH']).not.toContain('evil')
  })

  it('has the variables that the policy names or sets', () => {
    expect(build(['TOKEN', 'MODE=fast'], { TOKEN: 'secret', MODE: 'slow', OTHER: 'x' })).toMatchObject({
      TOKEN: 'secret',
      MODE: 'fast',
    })
    expect(build(['TOKEN'], { OTHER: 'x' })).not.toHaveProperty('OTHER')
  })

  it('lacks a variable that the host lacks', () => {
    expect(build(['TOKEN'], {})).not.toHaveProperty('TOKEN')
  })
})
