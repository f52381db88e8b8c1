import { readdirSync, readFileSync } from 'node:fs'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import type { Readable } from 'node:stream'

import { expect, test } from 'vitest'

import { describeForms, startCordon } from './cordon.js'

/** Resolves when the command has said it is ready, and with all it says afterwards when it ends. */
const follow = (child: ChildProcess) => {
  let said = ''
  child.stdout?.setEncoding('utf8')
  const ready = new Promise<void>((resolve) => {
    child.stdout?.on('data', (text: string) => {
      said += text
      if (said.includes('ready\n')) resolve()
    })
  })
  const ended = once(child, 'close').then(([status]) => ({
    status: status as number | null,
    said: said.replace('ready\n', ''),
  }))
  return { ready, ended }
}

/** Whether any process of this host still has the mark among its words. */
const isRunning = (mark: string): boolean =>
  readdirSync('/proc').some((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(mark)
    } catch {
      return false
    }
  })

describeForms('signals to cordon', (_, form) => {
  const start = (script: string) => startCordon(['run', '--form', form, '--', 'sh', '-c', script])

  test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
    '%s is passed on, and the command may handle it',
    async (signal) => {
      const child = start(`trap 'echo heard; exit 9' TERM INT HUP; echo ready; while :; do sleep 0.1; done`)
      const { ready, ended } = follow(child)
      await ready
      child.kill(signal)
      expect(await ended).toEqual({ status: 9, said: 'heard\n' })
    },
  )

  test('a command that does not handle it ends', async () => {
    const child = start('echo ready; exec sleep 100')
    const { ready, ended } = follow(child)
    await ready
    child.kill('SIGTERM')
    expect(await ended).toEqual({ status: 143, said: '' })
  })

  test('it works also while nobody reads the output, and a later reader gets the rest', async () => {
    const child = startCordon(['run', '--form', form, '--output', '1G', '--', 'sh', '-c', 'echo ready; exec yes'])
    child.stdout?.once('data', () => child.stdout?.pause())
    await once(child.stdout as Readable, 'data')
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    expect((await ended)[0]).toBe(143)
    child.stdout?.destroy()
    const slow = startCordon(['run', '--form', form, '--output', '1G', '--', 'head', '-c', '5000000', '/dev/zero'])
    const { stdout } = slow
    stdout?.once('data', () => {
      stdout.pause()
      setTimeout(() => stdout.resume(), 100)
    })
    let size = 0
    stdout?.on('data', (chunk: Buffer) => {
      size += chunk.length
    })
    expect((await once(slow, 'close'))[0]).toBe(0)
    expect(size).toBe(5_000_000)
  })

  test('it reaches the children of a shell too, as from a terminal', async () => {
    const child = start('cat; echo interrupted')
    const { ready, ended } = follow(child)
    // Said by the child: a shell that is just about to start one may lose the signal, also at a terminal.
    child.stdin?.write('ready\n')
    await ready
    child.kill('SIGINT')
    expect((await ended).status).toBe(130)
  })

  test('the second one kills a command that ignores them, and everything that it started', async () => {
    const mark = `9${String(process.pid)}${form.length}`
    const child = start(`trap '' TERM INT; sleep ${mark} & echo ready; while :; do sleep 0.1; done`)
    const { ready, ended } = follow(child)
    await ready
    child.kill('SIGTERM')
    child.kill('SIGINT')
    expect((await ended).status).toBe(137)
    expect(isRunning(mark)).toBe(false)
  })

  test('SIGKILL leaves nothing running', async () => {
    const mark = `8${String(process.pid)}${form.length}`
    const child = start(`setsid sleep ${mark} & echo ready; exec sleep ${mark}`)
    const { ready, ended } = follow(child)
    await ready
    expect(isRunning(mark)).toBe(true)
    child.kill('SIGKILL')
    await ended
    await expect.poll(() => isRunning(mark), { interval: 20 }).toBe(false)
  })
})
