/**
 * @template Report
 * @typedef {object} Target
 * @property {string} claim
 * @property {(report: Report) => number | undefined} figure
 * @property {'at most' | 'at least'} bound
 * @property {number} limit
 */

/** @type {readonly Target<import('../run.mjs').Report>[]} */
const TARGETS = [
  { claim: 'cold call, p50, × bare', figure: ({ start }) => start['cordon-cold']?.ratio, bound: 'at most', limit: 2.2 },
  { claim: 'warm call, p50, × bare', figure: ({ start }) => start['cordon-warm']?.ratio, bound: 'at most', limit: 0.7 },
  {
    claim: 'cold calls/s at 8 in flight, × bare',
    figure: ({ rates }) => rates.find((rate) => rate['bare']?.inFlight === 8)?.['cordon-cold']?.ratio,
    bound: 'at least',
    limit: 0.6,
  },
  ...['find', 'gcc', 'git'].map(
    (name) =>
      /** @type {Target<import('../run.mjs').Report>} */ ({
        claim: `${name} in a cell, p50, × bare`,
        figure: ({ work }) => work.find((entry) => entry.name === name)?.results['cordon-cold']?.ratio,
        bound: 'at most',
        limit: 1.05,
      }),
  ),
  {
    claim: 'idle warm cell, MB of its own',
    figure: ({ memory }) => (memory === undefined ? undefined : memory.privateBytes / 1e6),
    bound: 'at most',
    limit: 2,
  },
]

/** @param {import('../run.mjs').Report} report */
export const checkTargets = (report) => judge(TARGETS, report)

/**
 * A figure that was not measured is a target that is not met.
 * @template Report
 * @param {readonly Target<Report>[]} targets
 * @param {Report} report
 * @returns {{ text: string, met: boolean }}
 */
export function judge(targets, report) {
  const verdicts = targets.map(({ claim, figure, bound, limit }) => {
    const value = figure(report)
    const met = value !== undefined && Number.isFinite(value) && (bound === 'at most' ? value <= limit : value >= limit)
    return {
      met,
      line:
        `${met ? 'met   ' : 'MISSED'}  ${claim}: ` +
        `${Number.isFinite(value) ? value?.toFixed(2) : 'not measured'} (${bound} ${limit})`,
    }
  })
  return { text: verdicts.map(({ line }) => line).join('\n') + '\n', met: verdicts.every(({ met }) => met) }
}
