// Sizes and durations as people write them. A size without a unit is in bytes. A duration needs a unit, because seconds
// and milliseconds are both common.

const BYTES: Readonly<Record<string, number>> = { '': 1, 'K': 2 ** 10, 'M': 2 ** 20, 'G': 2 ** 30, 'T': 2 ** 40 }
const MILLISECONDS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

const SIZE = /^(?<count>\d+(\.\d+)?)(?<unit>[KMGT]?)(iB)?$/i
const DURATION = /^(?<count>\d+(\.\d+)?)(?<unit>ms|s|m|h)$/

const scale = (match: RegExpExecArray | null, units: Readonly<Record<string, number>>): number | undefined => {
  const { count = '', unit = '' } = match?.groups ?? {}
  const factor = units[unit] ?? units[unit.toUpperCase()]
  if (count === '' || factor === undefined) return undefined
  return positive(Number(count) * factor)
}

const positive = (value: number): number | undefined => (Number.isSafeInteger(value) && value > 0 ? value : undefined)

export const SIZE_FORM = 'a size such as 256M or 1G (K, M, G, T: powers of 1024)'
export const DURATION_FORM = 'a duration such as 500ms, 30s, 2m or 1h'
export const COUNT_FORM = 'a whole number of at least 1'

/** In bytes. */
export const parseSize = (value: unknown): number | undefined => {
  if (typeof value === 'number') return positive(value)
  return typeof value === 'string' ? scale(SIZE.exec(value), BYTES) : undefined
}

const written = (value: number, units: Readonly<Record<string, number>>): string => {
  const [unit = '', factor = 1] =
    Object.entries(units)
      .toReversed()
      .find(([, each]) => value >= each && value % each === 0) ?? []
  return `${value / factor}${unit}`
}

/** In the largest unit that is exact: 268435456 bytes are 256M. */
export const renderSize = (bytes: number): string => written(bytes, BYTES)
export const renderTime = (milliseconds: number): string => written(milliseconds, MILLISECONDS)

/** In milliseconds. */
export const parseDuration = (value: unknown): number | undefined =>
  typeof value === 'string' ? scale(DURATION.exec(value), MILLISECONDS) : undefined

export const parseCount = (value: unknown): number | undefined =>
  typeof value === 'number' ? positive(value) : undefined
