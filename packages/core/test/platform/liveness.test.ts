import { spawn } from 'node:child_process'
import { once } from 'node:events'

import { describe, expect, it } from 'vitest'

import { describeSelf, isDead } from '../../src/platform/index.js'
import { platformOf } from '../../src/platform/platform.js'

const HERE = process.platform === 'linux' ? ['linux', 'darwin'] : ['darwin']

describe.each(HERE)('the owner of a lock, as %s tells it', (name) => {
  const platform = platformOf(name)
  const me = describeSelf(platform)
  const ownerOf = (pid: number) => [pid, platform.factsOf(pid)?.start ?? '', ...me.split(':').slice(2)].join(':')

  it('lives while its process does, and is dead afterwards', async () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])
    await once(child, 'spawn')
    const owner = ownerOf(child.pid ?? 0)
    expect(isDead(owner, me, platform)).toBe(false)
    child.kill('SIGKILL')
    await once(child, 'exit')
    expect(isDead(owner, me, platform)).toBe(true)
  })

  it('is not dead if the text names no process of this machine', () => {
    for (const owner of ['', 'x', '-1:::', `${'9'.repeat(40)}:::`, 'just closed'])
      expect([owner, isDead(owner, me, platform)]).toEqual([owner, false])
    expect(isDead(me, me, platform)).toBe(false)
  })
})

it('a reused process number frees the lock on Linux, and keeps it on macOS', () => {
  const other = `${process.pid}:1:`
  const judged = (name: string) => {
    const me = describeSelf(platformOf(name))
    return isDead(`${other}${me.split(':').slice(2).join(':')}`, me, platformOf(name))
  }
  if (process.platform === 'linux') expect(judged('linux')).toBe(true)
  expect(judged('darwin')).toBe(false)
})

it('a system that nobody knows is asked nothing that only Linux can answer', () => {
  const { name, label, bootId, pathOfDescriptor } = platformOf('freebsd')
  expect([name, label, bootId(), pathOfDescriptor(0)]).toEqual(['freebsd', 'freebsd', '', undefined])
})
