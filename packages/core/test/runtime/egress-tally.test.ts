import { expect, test } from 'vitest'

import { createEgressTally } from '../../src/runtime/events/egress-tally.js'

test('beyond 100 hosts the rest is counted by name and port, not by connection', () => {
  const tally = createEgressTally()
  const connect = (host: string, connection: number) => {
    tally.take({ type: 'egress.opened', call_id: 'c', connection, host, port: 443, treatment: 'http' })
    tally.take({
      type: 'egress.closed',
      call_id: 'c',
      connection,
      host,
      port: 443,
      bytes_sent: 1,
      bytes_received: 2,
      duration_ms: 1,
      problem: null,
    })
  }
  for (let at = 0; at < 103; at++) for (let time = 0; time < 2; time++) connect(`h${String(at)}.test`, 2 * at + time)
  const summary = tally.summary() ?? expect.fail('no summary')
  expect(summary).toMatchObject({ connections: 206, bytes_sent: 206, bytes_received: 412, more_hosts: 3 })
  expect(summary.hosts).toHaveLength(100)
})
