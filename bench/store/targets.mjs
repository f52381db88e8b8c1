/** @typedef {import('../store.mjs').StoreReport} StoreReport */

/**
 * How much the figures fall with old calls, at worst of both ways to run a call.
 * @param {Pick<StoreReport, 'young' | 'aged'>} report
 * @param {'calls' | 'shares'} of
 */
export const fallOf = ({ young, aged }, of) =>
  Math.max(...WAYS.flatMap((way) => aged[way][of].map((figure, at) => 1 - figure / (young[way][of][at] ?? Number.NaN))))

/** @type {readonly ['here', 'byRunners']} */
const WAYS = ['here', 'byRunners']

/** @type {readonly import('../report/targets.mjs').Target<StoreReport>[]} */
export const STORE_TARGETS = [
  {
    claim: 'calls per second of who asked, share of the same writes in %, at worst',
    figure: ({ young }) => 100 * Math.min(...young.here.shares),
    bound: 'at least',
    limit: 35,
  },
  {
    claim: 'from approval to start, told by LISTEN, p50 in ms',
    figure: ({ young }) => young.listening.p50,
    bound: 'at most',
    limit: 10,
  },
  {
    claim: 'from approval to start, told by the queue, p50 in ms',
    figure: ({ young }) => young.queue.p50,
    bound: 'at most',
    limit: 10,
  },
  {
    claim: 'the first with old calls, p50 in ms',
    figure: ({ aged }) => aged.listening.p50,
    bound: 'at most',
    limit: 10,
  },
  { claim: 'the second with old calls, p50 in ms', figure: ({ aged }) => aged.queue.p50, bound: 'at most', limit: 10 },
  // Of shares and not of rates: the same writes are measured beside both, so what the machine did meanwhile falls out.
  {
    claim: 'fall of the share with old calls, in %',
    figure: (report) => 100 * fallOf(report, 'shares'),
    bound: 'at most',
    limit: 20,
  },
  {
    claim: 'first use of an embedded store, p50 in s',
    figure: ({ use }) => use.first.p50 / 1000,
    bound: 'at most',
    limit: 1.5,
  },
  { claim: 'opening it again, p50 in s', figure: ({ use }) => use.again.p50 / 1000, bound: 'at most', limit: 1.5 },
]
