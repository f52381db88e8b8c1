import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, it } from 'vitest'

import { cordon, temporaryFolder } from './cordon.js'

const folder = temporaryFolder()

const stateIn = (name: string): Readonly<Record<string, string>> => {
  mkdirSync(join(folder, name), { mode: 0o700 })
  return { XDG_STATE_HOME: join(folder, name) }
}

describe('the command line of a run', () => {
  it('is shown by `cordon why` right after the end, and recorded in the log', () => {
    const environment = stateIn('words')
    expect(cordon(['run', '--', 'sh', '-c', 'exit 0'], { environment }).status).toBe(0)
    expect(cordon(['why', 'last'], { environment }).stdout).toMatch(
      /^ended because .*\n\ncommand +sh -c 'exit 0'\ndecision /,
    )
    expect(cordon(['log', 'show', '--type', 'process.started'], { environment }).stdout).toContain(
      "cordon:run: sh -c 'exit 0'",
    )
  })

  it('is not recorded if the user switches it off', () => {
    const environment = { ...stateIn('hashed'), CORDON_RECORD: 'hash' }
    cordon(['run', '--', 'echo', 'quite-private'], { environment })
    expect(cordon(['log', 'show', '--json'], { environment }).stdout).not.toContain('quite-private')
    expect(cordon(['why', 'last'], { environment }).stdout).toMatch(/^ended because .*\n\ndecision /)
  })

  it('loses possible secrets', () => {
    const environment = stateIn('secret')
    cordon(['run', '--', 'echo', 'ghp_0123456789abcdefghijklmnopqrstuvwxyz'], { environment })
    expect(cordon(['log', 'show', '--json'], { environment }).stdout).not.toContain('ghp_0123')
  })
})

describe('a call that is not in the log', () => {
  it('is reported as missing, with 1, and a missing argument with 2', () => {
    const environment = stateIn('missing')
    cordon(['run', '--', 'true'], { environment })
    const shown = cordon(['log', 'show', '--call', 'zzz'], { environment })
    expect([shown.status, shown.stdout, shown.stderr]).toEqual([
      1,
      '',
      expect.stringContaining('no such entry of a call zzz'),
    ])
    expect(cordon(['why', 'zzz'], { environment }).status).toBe(1)
    expect(cordon(['why'], { environment }).status).toBe(2)
  })
})
