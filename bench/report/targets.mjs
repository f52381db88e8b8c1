/**
 * @template Report
 * @typedef {object} Target
 * @property {string} claim
 * @property {(report: Report) => number | undefined} figure
 * @property {'at most' | 'at least'} bound
 * @property {number} limit
 */

/** @typedef {Target<import('../run.mjs').Report>} RunTarget */

/**
 * One call, beside a bare spawn.
 * @param {string} claim
 * @param {string} name of a contestant
 * @param {number} limit
 * @returns {RunTarget}
 */
const start = (claim, name, limit) => ({
  claim: `${claim}, p50, × bare`,
  figure: (report) => report.start[name]?.ratio,
  bound: 'at most',
  limit,
})

/**
 * Calls per second with 8 in flight, beside bare spawns.
 * @param {string} claim
 * @param {string} name of a contestant
 * @param {number} limit
 * @returns {RunTarget}
 */
const rate = (claim, name, limit) => ({
  claim: `${claim}, calls/s at 8 in flight, × bare`,
  figure: ({ rates }) => rates.find((each) => each['bare']?.inFlight === 8)?.[name]?.ratio,
  bound: 'at least',
  limit,
})

/**
 * Real work in a cold cell, beside the same without a cell.
 * @param {string} name of a measurement
 * @returns {RunTarget}
 */
const work = (name) => ({
  claim: `${name} in a cell, p50, × bare`,
  figure: (report) => resultsOf(report, name)['cordon-cold']?.ratio,
  bound: 'at most',
  limit: 1.05,
})

/**
 * @param {string} title of a command
 * @param {number} limit
 * @returns {RunTarget}
 */
const command = (title, limit) => ({
  claim: `${title}, × node -e 0`,
  figure: ({ commands }) => commands.find((each) => each.title === title)?.ratio,
  bound: 'at most',
  limit,
})

/**
 * @param {import('../run.mjs').Report['commands']} commands
 * @param {readonly string[]} titles
 * @param {(...ms: number[]) => number} figure of their p50, in milliseconds
 */
const among = (commands, titles, figure) => {
  const found = titles.map((title) => commands.find((each) => each.title === title)?.p50)
  return found.includes(undefined) ? undefined : figure(.../** @type {number[]} */ (found))
}

/** @param {import('../run.mjs').Report} report @param {string} name */
const resultsOf = (report, name) => report.work.find((each) => each.name === name)?.results ?? {}

/** @type {readonly RunTarget[]} */
const TARGETS = [
  start('cold cell', 'cordon-cold', 1.7),
  start('warm cell', 'cordon-warm', 0.7),
  start('call of a process tool', 'cordon-call', 0.75),
  start('call of a process tool with the log', 'cordon-call-log', 1.1),
  start('call of a function tool', 'cordon-function', 1.2),
  start('call of a function tool with the log', 'cordon-function-log', 1.35),
  rate('cold cells', 'cordon-cold', 0.6),
  rate('process tools', 'cordon-call', 0.7),
  rate('process tools with the log', 'cordon-call-log', 0.9),
  {
    claim: 'find in a cell, × the same in bubblewrap',
    figure: (report) => {
      const { 'cordon-cold': cordon, bubblewrap } = resultsOf(report, 'find')
      return cordon === undefined || bubblewrap === undefined ? undefined : cordon.ratio / bubblewrap.ratio
    },
    bound: 'at most',
    limit: 1,
  },
  work('gcc'),
  work('git'),
  command('cordon run -- true', 0.3),
  command('cordon run -- true, without a host', 3),
  command('cordon --help', 0.2),
  command('cordon --version', 0.2),
  {
    claim: 'cordon run -- true, × bubblewrap with six binds',
    figure: ({ commands }) =>
      among(commands, ['cordon run -- true', 'bubblewrap, six binds'], (run, peer) => run / peer),
    bound: 'at most',
    limit: 2,
  },
  {
    claim: 'cordon run -- true with 100 rules, × without',
    figure: ({ commands }) =>
      among(commands, ['cordon run -- true, 100 rules', 'cordon run -- true'], (ruled, run) => ruled / run),
    bound: 'at most',
    limit: 1.1,
  },
  {
    claim: 'a hooked command, ms beyond the command, both round trips',
    figure: ({ commands }) =>
      among(commands, ['cordon hook', 'hooked true', 'bash -c true'], (hook, hooked, alone) => hook + hooked - alone),
    bound: 'at most',
    limit: 40,
  },
  {
    claim: 'idle local host, MB of memory',
    figure: ({ hostBytes }) => (hostBytes === undefined ? undefined : hostBytes / 1e6),
    bound: 'at most',
    limit: 70,
  },
  {
    claim: "import 'cordon', ms",
    figure: ({ commands }) => among(commands, ["import 'cordon'"], (cordon) => cordon),
    bound: 'at most',
    limit: 80,
  },
  {
    claim: 'first call after five idle minutes, × a warm call',
    figure: ({ idle }) => (idle.length === 0 ? undefined : Math.max(...idle.map(({ ratio }) => ratio))),
    bound: 'at most',
    limit: 1.5,
  },
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
