// Times as people type them.
import { parseDuration } from '../../policy/index.js'

const DAY_MS = 86_400_000

/** How long, in milliseconds: 500ms, 30s, 2m, 8h, 7d. */
export const parseSpan = (text: string): number | undefined => {
  const days = /^(\d{1,6}(?:\.\d{1,3})?)d$/.exec(text)?.[1]
  const ms = days === undefined ? parseDuration(text) : Math.round(Number(days) * DAY_MS)
  return ms === 0 ? undefined : ms
}

/** Since when, in milliseconds since 1970: a time, or how long ago. */
export const parseSince = (text: string, now: number): number | undefined => {
  const span = parseSpan(text)
  const time = span === undefined ? Date.parse(text) : now - span
  return Number.isNaN(time) ? undefined : time
}

/** Whole days: 400d, or 400. */
export const parseDays = (text: string): number | undefined => {
  const days = Number(/^(\d{1,5})d?$/.exec(text)?.[1])
  return days >= 1 ? days : undefined
}
