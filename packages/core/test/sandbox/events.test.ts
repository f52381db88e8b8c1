import { describe, expect, test } from 'vitest'

import { parseCellEvent } from '../../src/sandbox/result/events.js'

const parse = (line: string) => parseCellEvent(Buffer.from(line, 'latin1'))

const LIMIT = '"limit":4,"used":5,"effect":"refused"'

describe('an event of the launcher', () => {
  test.each([
    [
      '"kind":"connect","family":"inet","address":"192.0.2.1","port":80',
      { kind: 'connect', family: 'inet', address: '192.0.2.1', port: 80 },
    ],
    ['"kind":"connect","family":"abstract","name":"x"', { kind: 'connect', family: 'abstract', name: 'x' }],
    [
      '"kind":"listen","family":"inet6","address":"::1","port":1',
      { kind: 'listen', family: 'inet6', address: '::1', port: 1 },
    ],
    ['"kind":"exec","path":"/bin/ls"', { kind: 'exec', path: '/bin/ls' }],
    [`"kind":"processes",${LIMIT}`, { kind: 'processes', limit: 4, used: 5, effect: 'refused' }],
  ])('becomes a typed violation: %s', (fields, violation) => {
    expect(parse(`{"event":"violation",${fields}}`)).toEqual({ event: 'violation', violation })
  })

  test('reports a name that is not UTF-8 byte by byte', () => {
    expect(parse('{"event":"open","path":"/a\\u00ff","access":"read","withheld":true}')).toEqual({
      event: 'open',
      path: '/a\udcff',
      access: 'read',
      withheld: true,
    })
  })

  test.each([
    ['an unknown event', '{"event":"surprise"}'],
    ['no event', '{}'],
    ['no object', 'null'],
    ['no JSON', '{"event":'],
    ['an unknown kind', '{"event":"violation","kind":"surprise","path":"/"}'],
    ['a kind that only the host can tell', '{"event":"violation","kind":"protected","path":"/","aside":"/x"}'],
    ['a kind without its fields', '{"event":"violation","kind":"exec"}'],
    ['a field of another type', '{"event":"violation","kind":"exec","path":1}'],
    ['a field too many', '{"event":"violation","kind":"exec","path":"/","surprise":1}'],
    ['an unknown family', '{"event":"violation","kind":"connect","family":"surprise"}'],
    ['an unknown limit', `{"event":"violation","kind":"surprise",${LIMIT}}`],
    [
      'an exit by an unknown limit',
      '{"event":"exit","code":-1,"signal":9,"limit":"surprise","wall_ms":1,"cpu_ms":1,"max_rss_kb":1}',
    ],
  ])('is refused with %s', (_what, line) => {
    expect(() => parse(line)).toThrow()
  })
})
