import { describe, expect, it } from 'vitest'

import { createLease } from '../../src/registry/index.js'

describe('a lease', () => {
  const SILENT_MS = 1_000
  const heldFor = (send: () => Promise<void>) => {
    let clock = 0
    return {
      lease: createLease(send, SILENT_MS, () => clock),
      pass: (milliseconds: number) => {
        clock += milliseconds
      },
    }
  }

  it('ends before the database gives calls of a silent runner away, and returns when it is heard again', async () => {
    const { lease, pass } = heldFor(() => Promise.resolve())
    pass(749)
    expect(lease.isHeld()).toBe(true)
    pass(1)
    expect(lease.isHeld()).toBe(false)
    expect(await lease.renew()).toBe(true)
    expect(lease.isHeld()).toBe(true)
  })

  it('counts from before a message is sent, because nobody knows when it arrived', async () => {
    const answers: (() => void)[] = []
    const { lease, pass } = heldFor(() => new Promise((resolve) => answers.push(resolve)))
    const renewed = lease.renew()
    pass(750)
    answers[0]?.()
    expect(await renewed).toBe(true)
    expect(lease.isHeld()).toBe(false)
  })

  it('is not renewed by a failed message', async () => {
    const { lease, pass } = heldFor(() => Promise.reject(new Error('away')))
    pass(700)
    expect(await lease.renew()).toBe(false)
    pass(50)
    expect(lease.isHeld()).toBe(false)
  })

  it('abandons a message without an answer, and sends the next one', async () => {
    let sent = 0
    const { lease } = heldFor(() => {
      sent += 1
      return sent === 1 ? new Promise<never>(() => undefined) : Promise.resolve()
    })
    expect(await lease.renew()).toBe(false)
    expect(await lease.renew()).toBe(true)
  })

  it('sends one message at a time', async () => {
    let sent = 0
    const { lease } = heldFor(() => {
      sent += 1
      return Promise.resolve()
    })
    await Promise.all([lease.renew(), lease.renew()])
    expect(sent).toBe(1)
  })
})
