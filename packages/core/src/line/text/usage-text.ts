// The usage and the boundary of a call, as its runner reported them. Any part may be missing.
import { isMapping } from '../../shapes/index.js'

import type { Fact } from './table-text.js'

type Known = Readonly<Record<string, unknown>>

const mappingOf = (value: unknown): Known => (isMapping(value) ? value : {})

const SECOND_MS = 1000
const MINUTE_MS = 60_000

/** 6 ms, 1.2 s, 3 min 20 s. */
export const renderDuration = (ms: number): string => {
  if (ms < SECOND_MS) return `${String(Math.round(ms))} ms`
  if (ms < MINUTE_MS) return `${(ms / SECOND_MS).toFixed(1)} s`
  return `${String(Math.floor(ms / MINUTE_MS))} min ${String(Math.round((ms % MINUTE_MS) / SECOND_MS))} s`
}

const SIZES = [
  ['GB', 1e9],
  ['MB', 1e6],
  ['kB', 1e3],
] as const

/** 66 bytes, 1.5 MB. */
const renderBytes = (bytes: number): string => {
  const [unit, size] = SIZES.find(([, each]) => bytes >= each) ?? ['bytes', 1]
  return `${size === 1 ? String(bytes) : (bytes / size).toFixed(1)} ${unit}`
}

const MEASURED: readonly (readonly [name: string, text: (value: number) => string])[] = [
  ['wall_ms', (ms) => `${renderDuration(ms)} wall`],
  ['cpu_ms', (ms) => `${renderDuration(ms)} cpu`],
  ['max_rss_bytes', (bytes) => `${renderBytes(bytes)} memory`],
  ['peak_memory_bytes', (bytes) => `${renderBytes(bytes)} memory of all its processes`],
  ['output_bytes', (bytes) => `${renderBytes(bytes)} out`],
  ['bytes_sent', (bytes) => `${renderBytes(bytes)} sent`],
  ['bytes_received', (bytes) => `${renderBytes(bytes)} received`],
]

/** All other fields are shown as they are. */
const WORDED: ReadonlySet<string> = new Set([
  ...MEASURED.map(([name]) => name),
  'status',
  'duration_ms',
  'reason',
  'boundary',
  'bare_requests',
])

/** Boundaries that a policy can open completely. Then nothing has to enforce them. */
const OPENED: ReadonlySet<string> = new Set(['exec', 'network'])

export const mechanismsText = (boundary: string, mechanisms: readonly string[]): string =>
  mechanisms.join(', ') || (OPENED.has(boundary) ? 'not restricted' : 'not enforced on this host')

/** Empty if nothing was measured. */
export const measuredText = (usage: Known): string =>
  MEASURED.flatMap(([name, text]) => {
    const value = usage[name]
    return typeof value === 'number' ? [text(value)] : []
  }).join(', ')

export const renderUsage = (usage: Known | null): readonly Fact[] => {
  if (usage === null) return []
  const measured = measuredText(usage)
  const { form, network, enforced, violations } = mappingOf(usage['boundary'])
  const others = Object.entries(usage).filter(([name]) => !WORDED.has(name))
  const bare = usage['bare_requests']
  return [
    // Requests that went without the credential of their host.
    ...(Array.isArray(bare) ? bare.map((line) => ['credential', String(line)] as const) : []),
    ['used', measured === '' ? null : measured],
    [
      'cell',
      typeof form === 'string'
        ? `${form}, network ${Array.isArray(network) ? network.join(' ') : String(network)}`
        : null,
    ],
    ...Object.entries(mappingOf(enforced)).map(
      ([boundary, by], at) =>
        [
          at === 0 ? 'enforced' : '',
          `${boundary}: ${Array.isArray(by) ? mechanismsText(boundary, by.map(String)) : String(by)}`,
        ] as const,
    ),
    ...(Array.isArray(violations) ? violations.map((each) => ['refused', String(each)] as const) : []),
    ...others.map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)] as const),
  ]
}
