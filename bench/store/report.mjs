import { fallOf } from './targets.mjs'

const NAME_WIDTH = 40

/** @param {import('../store.mjs').StoreReport} report */
export function formatStore(report) {
  const { inFlight, seconds, young, aged, old, embedded } = report
  const many = old.count.toLocaleString('en')
  return (
    [
      `calls per second: asked for, claimed, completed (${String(seconds)} s each), and their share of the ` +
        `same writes\n`,
      `  ${'in flight'.padEnd(NAME_WIDTH)}${inFlight.map((count) => `${String(count).padStart(8)}      `).join('')}`,
      ...both('PostgreSQL, run by who asked', young.here),
      ...both('PostgreSQL, by a runner of the queue', young.byRunners),
      ...both(`by who asked, ${many} old calls`, aged.here),
      ...both(`by a runner, ${many} old calls`, aged.byRunners),
      ...both('embedded', embedded),
      `\nwith ${many} old calls (put there in ${(old.loadedInMs / 1000).toFixed(0)} s) the share falls by ` +
        `${(100 * fallOf(report, 'shares')).toFixed(0)}% at most, the rate by ` +
        `${(100 * fallOf(report, 'calls')).toFixed(0)}%\n`,
      formatWrites(report),
      `\nfrom approval to start, in ms            p50     p95\n`,
      spreadLine('told by LISTEN', young.listening),
      spreadLine('told by the queue', young.queue),
      spreadLine(`told by LISTEN, ${many} old`, aged.listening),
      spreadLine(`told by the queue, ${many} old`, aged.queue),
      `\nembedded store, from the start of the process, in ms (${String(report.use.uses)} times)\n`,
      spreadLine('first use, until it answers', report.use.first),
      spreadLine('opened again, until it answers', report.use.again),
      spreadLine('opened again, until createCordon()', report.use.runtime),
    ].join('\n') + '\n'
  )
}

/**
 * @param {string} name
 * @param {import('./rates.mjs').Rates} rates
 */
function both(name, { calls, bare, shares }) {
  const line = (
    /** @type {string} */ title,
    /** @type {number[]} */ values,
    /** @type {(at: number) => string} */ after,
  ) =>
    `  ${title.padEnd(NAME_WIDTH)}${values.map((value, at) => `${value.toFixed(0).padStart(8)}${after(at).padStart(6)}`).join('')}`
  return [
    line(name, calls, (at) => `${(100 * (shares[at] ?? Number.NaN)).toFixed(0)}%`),
    line('  the same writes', bare, () => ''),
  ]
}

/** @param {import('../store.mjs').StoreReport} report */
function formatWrites({ writes }) {
  const words = (/** @type {import('./writes.mjs').Writes} */ { commits, rows, bytes }) =>
    `${commits.toFixed(1)} commits, ${rows.toFixed(1)} rows, ${(bytes / 1000).toFixed(1)} kB of log`
  return `a call:          ${words(writes.call)}\nthe same writes: ${words(writes.same)}`
}

/**
 * @param {string} name
 * @param {{ p50: number, p95: number }} spread
 */
const spreadLine = (name, { p50, p95 }) =>
  `  ${name.padEnd(34)}${p50.toFixed(1).padStart(8)}${p95.toFixed(1).padStart(8)}`
