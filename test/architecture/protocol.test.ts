// packages/core/docs/protocol.md, the TypeScript side and the C side have the same words.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import type { AbsolutePath } from '../../packages/core/src/policy/index.js'
import { FORMS } from '../../packages/core/src/policy/index.js'
import { PLAN_VERSION, encodePlan } from '../../packages/core/src/sandbox/plan/encode-plan.js'
import { ADDRESSES, EVENTS, VIOLATIONS, parseCellEvent } from '../../packages/core/src/sandbox/result/events.js'
import { FROM_CELL, FROM_WATCHER, TO_CELL, TO_WATCHER } from '../../packages/core/src/sandbox/frames.js'
import { PROBE_STATUSES } from '../../packages/core/src/sandbox/host/probe-cell.js'
import { RELAY_FRAMES } from '../../packages/core/src/sandbox/container/carried-connections.js'
import {
  ALL_FRAMES,
  PLAN_LIMITS,
  REACH_KINDS,
  STREAM_LETTERS,
  TRAPS,
} from '../../packages/core/src/sandbox/plan/plan.js'
import type { Plan, Step } from '../../packages/core/src/sandbox/plan/plan.js'
import { DEED_LETTERS, SCOPE_LETTERS } from '../../packages/core/src/sandbox/watch/watcher.js'
import { WAYS_OUT } from '../../packages/core/src/sandbox/result/setup-failure.js'

import { readNativeWords } from './native-words.js'
import { tablesOf } from './protocol-page.js'
import { FOLDERS, readTree } from './source-tree.js'

const ROOT = join(import.meta.dirname, '..', '..')

const native = readNativeWords(readTree(ROOT, FOLDERS.native, /\.[ch]$/))
const tables = tablesOf(readFileSync(join(ROOT, 'packages/core/docs/protocol.md'), 'utf8'))

const sorted = (words: Iterable<string>): readonly string[] => [...new Set(words)].sort()
const inTable = (heading: string): readonly string[] => sorted(tables.get(heading) ?? [])
const letters = (enumeration: string): readonly string[] =>
  sorted(native.lettersOf(enumeration).map(([, letter]) => letter))

/** The letters of an enumeration by its names, as TypeScript writes them. */
const named = (enumeration: string, prefix: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    native.lettersOf(enumeration).map(([name, letter]) => [camelCase(name.slice(prefix.length)), letter]),
  )

const camelCase = (name: string): string =>
  name.toLowerCase().replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase())

const path = '/' as AbsolutePath

const STEPS: {
  readonly [Kind in Step['kind']]: Extract<Step, { kind: Kind }> | { readonly kind: Kind; readonly path: AbsolutePath }
} = {
  bind: { kind: 'bind', access: 'r', path },
  hide: { kind: 'hide', path },
  directory: { kind: 'directory', path },
  link: { kind: 'link', path, target: '/' },
  file: { kind: 'file', path, content: '/' },
  cover: { kind: 'cover', path, content: '/' },
  proc: { kind: 'proc', path },
  scratch: { kind: 'scratch', path },
  terminals: { kind: 'terminals', path },
}

const FULL: Plan = {
  form: 'namespaces',
  steps: Object.values(STEPS) as readonly Step[],
  rules: [{ access: 'r', path }],
  kept: { roots: [path], sealed: [path], hidden: [path] },
  exec: { kind: 'only', programs: [path] },
  cwd: path,
  temporary: path,
  cgroup: path,
  network: 'none',
  limits: Object.fromEntries(PLAN_LIMITS.map((name) => [name, 1])),
  traps: TRAPS,
  stdio: ALL_FRAMES,
  foreground: true,
  clock: 'start',
  delivery: 'gathered',
  probe: false,
}
const BROKERED: Plan = {
  ...FULL,
  network: {
    port: 1,
    token: '0',
    reaches: REACH_KINDS.map((kind) => ({ kind, value: '/', port: 1 })),
    answeredBy: 'keeper',
  },
}
const NESTED: Plan = { ...FULL, network: { port: 1, token: '0', reaches: [], answeredBy: 'outer-keeper' } }
const PROXIED: Plan = { ...NESTED, form: 'mounts', network: { port: 1, token: '0', reaches: [], answeredBy: 'proxy' } }
const OTHERWISE: Plan = {
  ...FULL,
  form: 'landlock',
  exec: { kind: 'all' },
  network: 'all',
  clock: 'begin',
  delivery: 'prompt',
}

/** Words of a plan that are neither paths nor numbers nor letters. */
const planWords = (plan: Plan): readonly string[] =>
  encodePlan(plan)
    .toString()
    .split('\0')
    .filter((word) => /^[A-Za-z]+(-[a-z]+)*$/.test(word) && !['r', 'fff'].includes(word))

describe('TypeScript, C and the page agree on', () => {
  test('the letters of frames', () => {
    expect(named('frame_kind', 'FRAME_')).toEqual({ ...TO_CELL, ...FROM_CELL })
    expect(named('watcher_frame', 'WATCHER_')).toEqual({ ...TO_WATCHER, ...FROM_WATCHER })
    expect(named('relay_frame', 'RELAY_')).toEqual(RELAY_FRAMES)
    expect(inTable('with the relay')).toEqual(sorted(Object.values(RELAY_FRAMES)))
    expect(inTable('to a cell')).toEqual(sorted(Object.values(TO_CELL)))
    expect(inTable('from a cell')).toEqual(sorted(Object.values(FROM_CELL)))
    expect(inTable('to the watcher')).toEqual(sorted(Object.values(TO_WATCHER)))
    expect(inTable('from the watcher')).toEqual(sorted(Object.values(FROM_WATCHER)))
  })

  test('the version and the words of a plan', () => {
    expect(native.constant('CORDON_CELL_VERSION')).toBe(PLAN_VERSION)
    const words = sorted([...native.wordsIn('wire/plan.c'), ...native.wordsIn('wire/reach.c')])
    expect(words).toEqual(sorted([FULL, OTHERWISE, BROKERED, NESTED, PROXIED].flatMap(planWords)))
    const values = [
      'none',
      'all',
      'broker',
      'nested',
      'proxied',
      'only',
      'yes',
      'no',
      'start',
      'begin',
      'gathered',
      'prompt',
      'end',
      ...FORMS,
    ]
    expect(
      sorted([...inTable('word'), ...inTable('limit'), ...inTable('trap'), ...inTable('reach'), ...values]),
    ).toEqual(words)
    expect(inTable('reach')).toEqual(sorted(REACH_KINDS))
    expect(inTable('limit')).toEqual(sorted(PLAN_LIMITS))
    expect(inTable('trap')).toEqual(sorted(TRAPS))
  })

  test('the letters of access, streams, scopes and deeds', () => {
    expect(native.casesIn('wire/plan.c', 'parse_access', 'ACCESS_')).toEqual({
      read: 'r',
      write: 'w',
      execute: 'x',
      device: 'd',
      list: 'l',
    })
    expect(native.casesIn('wire/plan.c', 'parse_streams', 'STREAM_')).toEqual(STREAM_LETTERS)
    expect(named('scope', 'SCOPE_')).toEqual({ ...SCOPE_LETTERS, file: 'f' })
    const deeds = Object.entries(DEED_LETTERS).map(([letter, deed]) => [camelCase(deed.replaceAll('-', '_')), letter])
    expect(named('deed', '')).toEqual(Object.fromEntries(deeds))
  })

  test('the statuses of a probe, in the same order', () => {
    expect(native.namesOf('probe_status')).toEqual(
      PROBE_STATUSES.map((status) => `PROBE_${status.toUpperCase().replaceAll('-', '_')}`),
    )
  })

  test('the stages of errors, and fixes exist only for these', () => {
    expect(inTable('stage')).toEqual(sorted(native.stages))
    expect(Object.keys(WAYS_OUT).filter((stage) => !native.stages.includes(stage))).toEqual([])
  })

  test('the packets inside a cell', () => {
    expect(inTable('packet')).toEqual(letters('packet_kind'))
  })
})

const EVENT_NAMES = [...Object.keys(EVENTS), 'violation']
const REPORTED_KINDS = ['connect', 'listen', ...Object.keys(VIOLATIONS)]
const ADDRESS_FAMILIES = Object.keys(ADDRESSES)

// A value for every field that is a format in C. Kinds and limits that are words there are found in their own way.
const VALUES: Readonly<Record<string, readonly string[]>> = {
  network: ['own', 'shared', 'unknown'],
  kind: REPORTED_KINDS,
  limit: ['', 'wall'],
  access: ['read', 'write'],
  effect: ['ended', 'refused'],
}

/** What a format string of C can become, with its fields filled in. */
const filled = (format: string): readonly string[] => {
  const [whole, field = ''] = /"(\w+)":"%s"/.exec(format) ?? []
  if (whole !== undefined)
    return (VALUES[field] ?? ['/x']).flatMap((value) => filled(format.replace(whole, `"${field}":"${value}"`)))
  return [
    format
      .replaceAll(/%(?:ll|l)?[du]/g, '1')
      .replaceAll(/"(measurable|withheld|filtered|unprivileged)":%s/g, '"$1":true'),
  ]
}

const isUnderstood = (line: string): boolean => {
  try {
    parseCellEvent(Buffer.from(line, 'latin1'))
    return true
  } catch {
    return false
  }
}

describe('TypeScript understands the events of C', () => {
  const withFields = native.events.flatMap((event) =>
    event.endsWith(',%s}') ? native.violationFields.map((fields) => event.replace(',%s}', `,${fields}}`)) : [event],
  )

  test.each(withFields)('%s', (format) => {
    expect(filled(format).some(isUnderstood)).toBe(true)
  })

  test('with the same names, kinds and families, as the page lists them', () => {
    const names = native.events.flatMap((event) => /"event":"(\w+)"/.exec(event)?.[1] ?? [])
    expect(sorted(names)).toEqual(sorted(EVENT_NAMES))
    expect(inTable('event')).toEqual(sorted(EVENT_NAMES))
    expect(sorted(native.violationKinds)).toEqual(sorted(REPORTED_KINDS))
    expect(inTable('violation')).toEqual(sorted(REPORTED_KINDS))
    const families = native.violationFields.flatMap((fields) => /"family":"(\w+)"/.exec(fields)?.[1] ?? [])
    expect(sorted(families)).toEqual(sorted(ADDRESS_FAMILIES))
    expect(inTable('family of an address')).toEqual(sorted(ADDRESS_FAMILIES))
  })
})
