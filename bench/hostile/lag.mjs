// The lag of an event loop; run as a program of its own, that of a bystander, which does nothing else.
import { percentile } from '../measure/statistics.mjs'

const TICK_MS = 5

/**
 * How late a timer would fire that was due at any moment, not only at those at which the loop was free: a stall of
 * a second counts as all the timers that it would have delayed, not as one.
 */
export function watchLag() {
  /** @type {number[]} */
  const lags = []
  let due = performance.now() + TICK_MS
  const ticker = setInterval(() => {
    const now = performance.now()
    for (let lag = Math.max(0, now - due); lag >= 0; lag -= TICK_MS) lags.push(lag)
    due = now + TICK_MS
  }, TICK_MS)
  return () => {
    clearInterval(ticker)
    return { p99: percentile(lags, 0.99), max: percentile(lags, 1) }
  }
}

if (process.send !== undefined && process.argv[1] === import.meta.filename) {
  let end = watchLag()
  process.on('message', () => {
    process.send?.(end())
    end = watchLag()
  })
}
