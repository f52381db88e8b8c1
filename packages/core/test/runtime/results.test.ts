// The answer of a tool is limited before it is read. These tests count steps and sizes, and assert no time.
import { describe, expect, test } from 'vitest'

import { processTool, tool } from '../../src/runtime/index.js'
import {
  MESSAGE_LETTERS,
  createMessageReader,
  encodeMessage,
  encodeWritten,
} from '../../src/runtime/function-cell/messages.js'
import { listenToFunction } from '../../src/runtime/run/function-reply.js'
import { resultLimitsOf } from '../../src/runtime/result/result-limits.js'

import { asWritten, eventsOf, openStage } from './stage.js'

const { cordon } = openStage()

const MIB = 1024 * 1024

/** What a function that has taken over its process may write: a message of any kind and content. */
const FORGING = asWritten(`async ({ letter, piece, times, around: [before, after] }) => {
  const { writeSync, closeSync } = await import('node:fs')
  const text = Buffer.from(before + piece.repeat(times) + after)
  const header = Buffer.alloc(5)
  header.write(letter)
  header.writeUInt32LE(text.length, 1)
  const message = Buffer.concat([header, text])
  for (let sent = 0; sent < message.length; ) try { sent += writeSync(1, message, sent) } catch (error) { if (error.code !== 'EAGAIN') throw error }
  closeSync(1)
  process.kill(process.pid, 'SIGKILL')
}`)
const BUILDING = asWritten('({ rows }) => Array.from({ length: rows }, (_, at) => ({ at }))')

const runtime = await cordon({
  tools: [
    tool({ name: 'forging', run: FORGING }),
    tool({ name: 'building', run: BUILDING }),
    tool({ name: 'building-much', run: BUILDING, result: { bytes: 8 * MIB, elements: 500_000 } }),
    tool({
      name: 'here',
      inProcess: true,
      policy: { risk: 'low' },
      run: ({ rows }: { rows: number }) => Array.from({ length: rows }, (_, at) => ({ at })),
    }),
    tool({ name: 'saying', run: asWritten('({ letters }) => "é".repeat(letters)') }),
    tool({ name: 'throwing', run: asWritten('({ letters }) => { throw new Error("eyJ-".repeat(letters)) }') }),
    tool({ name: 'printing', run: asWritten('({ letters }) => { console.log("x".repeat(letters)); return 1 }') }),
    tool({
      name: 'reporting',
      run: asWritten('async function* ({ times }) { for (let at = 0; at < times; at += 1) yield at; return "done" }'),
    }),
    processTool({
      name: 'writing',
      command: ({ bytes }: { bytes: number }) => ['/usr/bin/head', '-c', String(bytes), '/dev/zero'],
    }),
    processTool({
      name: 'writing-much',
      command: ({ bytes }: { bytes: number }) => ['/usr/bin/head', '-c', String(bytes), '/dev/zero'],
      policy: { limits: { output: '8M' } },
    }),
  ],
})

describe('a hostile result is refused before it is read', () => {
  test.each([
    ['tiny elements', { piece: '[],', times: 1_000_000, around: ['[', '1]'] }],
    ['nesting', { piece: '[', times: 400_000, around: ['', ''] }],
    ['keys', { piece: '"a":1,', times: 100_000, around: ['{', '"b":1}'] }],
    ['one long text', { piece: 'x', times: 3_000_000, around: ['"', '"'] }],
  ])('%s: the call fails, and the error names the option', async (_, given) => {
    const { status, reason, facts } = await runtime.call('forging', { letter: 'V', ...given })
    expect(status).toBe('failed')
    expect(facts.error).toMatchObject({ code: 'result-too-large', fix: expect.stringContaining('"result"') as string })
    expect(reason).toContain('too large')
  })

  test('a result within the limits arrives, and a larger one if its tool opted in', async () => {
    expect(await runtime.call('building', { rows: 6_600 })).toMatchObject({ status: 'ok', output: { length: 6_600 } })
    expect(await runtime.call('building', { rows: 6_700 })).toMatchObject({
      status: 'failed',
      facts: { error: { code: 'result-too-large' } },
    })
    expect(await runtime.call('building-much', { rows: 100_000 })).toMatchObject({
      status: 'ok',
      output: { length: 100_000 },
    })
    expect(await runtime.call('saying', { letters: 500_000 })).toMatchObject({ status: 'ok' })
    expect(await runtime.call('saying', { letters: 600_000 })).toMatchObject({
      facts: { error: { code: 'result-too-large', message: expect.stringContaining('1048576') as string } },
    })
  })

  test('the same limits apply in process', async () => {
    expect(await runtime.call('here', { rows: 6_600 })).toMatchObject({ status: 'ok', output: { length: 6_600 } })
    expect(await runtime.call('here', { rows: 6_700 })).toMatchObject({
      status: 'failed',
      facts: { error: { code: 'result-too-large' } },
    })
  })
})

describe('other output of a tool is limited too', () => {
  test('a long error is cut before it is recorded, and the end of the call is recorded', async () => {
    const seen = eventsOf(runtime)
    for (const given of [
      { name: 'throwing', input: { letters: 100_000 } },
      {
        name: 'forging',
        input: { letter: 'X', piece: 'eyJ-', times: 50_000, around: ['{"error":{"message":"', '"}}'] },
      },
    ]) {
      const { status, facts } = await runtime.call(given.name, given.input)
      expect({ status, code: facts.error?.code }).toEqual({ status: 'failed', code: 'tool-failed' })
      expect(facts.error?.message.length).toBeLessThan(20_000)
    }
    const completed = seen.filter(({ type }) => type === 'tool.completed')
    expect(completed).toHaveLength(2)
    for (const event of completed) expect(JSON.stringify(event).length).toBeLessThan(40_000)
  })

  test('output arrives in pieces, and the first part is kept', async () => {
    const { status, facts } = await runtime.call('printing', { letters: 2_000_000 })
    expect({ status, printed: facts.printed.length }).toEqual({ status: 'ok', printed: MIB })
  })

  test('progress arrives in order, up to 10,000 messages, and a note says that more was dropped', async () => {
    for (const [times, told] of [
      [300, 300],
      [10_500, 10_000],
    ] as const) {
      const heard: unknown[] = []
      const result = await runtime.call('reporting', { times }, { onProgress: (value) => heard.push(value) })
      expect(result.output).toBe('done')
      expect(heard).toEqual(Array.from({ length: told }, (_, at) => at))
      expect(result.facts.printed.includes('progress was left out')).toBe(told < times)
    }
  })

  test('a process that writes more than 4 MiB is killed, unless its policy allows more', async () => {
    const written = async (name: string, bytes: number) => {
      const { status, output, facts } = await runtime.call(name, { bytes })
      return {
        status,
        letters: status === 'ok' ? (output as { stdout: string }).stdout.length : null,
        violations: facts.violations.map(({ kind }) => kind),
      }
    }
    expect(await written('writing', 3 * MIB)).toEqual({ status: 'ok', letters: 3 * MIB, violations: [] })
    expect(await written('writing', 6 * MIB)).toEqual({ status: 'violated', letters: null, violations: ['output'] })
    expect(await written('writing-much', 6 * MIB)).toEqual({ status: 'ok', letters: 6 * MIB, violations: [] })
  })
})

describe('a chunk of very many messages', () => {
  const flood = (messages: number) =>
    Buffer.concat(Array.from({ length: messages }, () => encodeWritten('progress', '1')))

  test('is read over many turns of the event loop, in order, before the result', async () => {
    const heard: unknown[] = []
    const reply = listenToFunction(resultLimitsOf(), {
      onProgress: (value) => heard.push(value),
      onLog: () => undefined,
    })
    reply.take(Buffer.concat([flood(5_000), encodeWritten('value', '"end"')]))
    const [atOnce, ended] = [heard.length, reply.end()]
    let turns = 0
    const count = (): void => {
      turns += 1
      if (heard.length < 5_000) setImmediate(count)
    }
    count()
    expect(await ended).toMatchObject({ kind: 'value', value: { value: 'end' } })
    expect(heard).toHaveLength(5_000)
    expect(atOnce).toBeLessThan(500)
    expect(turns).toBeGreaterThan(10)
  })

  test('is read at once if it has only a few', () => {
    const heard: unknown[] = []
    listenToFunction(resultLimitsOf(), { onProgress: (value) => heard.push(value), onLog: () => undefined }).take(
      flood(20),
    )
    expect(heard).toHaveLength(20)
  })
})

describe('the reader of messages', () => {
  test('knows each kind by a letter of its own', () => {
    const letters = Object.values(MESSAGE_LETTERS)
    expect(new Set(letters).size).toBe(letters.length)
  })

  const readerOf = (largest: number) => {
    const heard: unknown[] = []
    const take = createMessageReader<'progress' | 'text'>({
      largest: { progress: largest, text: largest },
      onMessage: (kind, json) => heard.push([kind, json.toString()]),
      onTooLarge: (kind, bytes) => heard.push([kind, bytes]),
    })
    return { heard, take }
  }

  test('finds the same messages for any cuts, and skips one that is too large', () => {
    const bytes = Buffer.concat([
      encodeWritten('progress', '1'),
      encodeWritten('progress', `"${'x'.repeat(100)}"`),
      encodeMessage({ kind: 'text', stream: 'stdout', text: 'a' }),
      encodeWritten('progress', '2'),
    ])
    for (const size of [1, 2, 3, 7, 64, bytes.length]) {
      const { heard, take } = readerOf(50)
      for (let at = 0; at < bytes.length; at += size) take(bytes.subarray(at, at + size))
      expect(heard).toEqual([
        ['progress', '1'],
        ['progress', 102],
        ['text', '{"stream":"stdout","text":"a"}'],
        ['progress', '2'],
      ])
    }
  })

  test('refuses invalid messages', () => {
    expect(() => {
      readerOf(50).take(Buffer.from('something else'))
    }).toThrow('something else than messages')
  })
})
