/**
 * @param {import('../run.mjs').Report} report
 * @returns {string}
 */
export function formatReport(report) {
  return (
    [
      formatFacts(report),
      ...formatCalls(report),
      ...formatCommands(report),
      ...formatIdle(report),
      ...formatWork(report),
      ...formatMemory(report),
      ...formatTrouble(report),
    ].join('\n\n') + '\n'
  )
}

/** @param {import('../run.mjs').Report} report */
function formatFacts({ machine }) {
  const busy =
    machine.load > machine.cpus / 4
      ? `\nthe machine was busy before the run (load ${machine.load.toFixed(1)}): expect noise`
      : ''
  return (
    `Linux ${machine.kernel} ${machine.arch}, ${machine.cpus} CPUs, Node ${machine.node}, host process ` +
    `${Math.round(machine.hostBytes / 2 ** 20)} MiB${busy}`
  )
}

/** @param {import('../run.mjs').Report} report */
function formatCalls({ contestants, start, rates }) {
  const rows = contestants.filter(
    ({ name }) => start[name] !== undefined || rates.some((rate) => rate[name] !== undefined),
  )
  if (rows.length === 0) return []
  const head = [
    '/bin/true',
    'n',
    'p50 ms',
    'p95 ms',
    '× bare',
    ...rates.flatMap((rate) => [`calls/s at ${inFlightOf(rate)}`, '× bare']),
  ]
  return [
    formatTable(
      head,
      rows.map(({ name, title }) => {
        const latency = start[name]
        return [
          title,
          String(latency?.n ?? ''),
          digits(latency?.p50, 2),
          digits(latency?.p95, 2),
          digits(latency?.ratio, 2),
          ...rates.flatMap((rate) => [digits(rate[name]?.perSecond, 0), digits(rate[name]?.ratio, 2)]),
        ]
      }),
    ),
  ]
}

/** @param {Record<string, import('../measure/rate.mjs').Rate>} rate */
function inFlightOf(rate) {
  return Object.values(rate)[0]?.inFlight ?? 0
}

/** @param {import('../run.mjs').Report} report */
function formatCommands({ commands }) {
  if (commands.length === 0) return []
  const rows = commands.map(({ title, p50, ratio }) => [title, digits(p50, 1), digits(ratio, 2)])
  return [formatTable(['command', 'p50 ms', '× node -e 0'], rows)]
}

/** @param {import('../run.mjs').Report} report */
function formatIdle({ idle }) {
  if (idle.length === 0) return []
  const rows = idle.map(({ title, minutes, warm, first, ratio }) => [
    title,
    String(minutes),
    digits(warm, 2),
    digits(first, 2),
    digits(ratio, 2),
  ])
  return [formatTable(['after a pause', 'minutes', 'warm ms', 'first call ms', '× warm'], rows)]
}

/** @param {import('../run.mjs').Report} report */
function formatWork({ contestants, work }) {
  if (work.length === 0) return []
  const columns = contestants.filter(({ name }) => work.some(({ results }) => results[name] !== undefined))
  const head = ['p50 ms (× bare)', ...columns.map(({ name }) => name)]
  return [
    formatTable(
      head,
      work.map(({ title, results }) => [
        title,
        ...columns.map(({ name }) => {
          const latency = results[name]
          if (latency === undefined) return ''
          if (latency.n === 0) return 'failed'
          return name === 'bare' ? digits(latency.p50, 1) : `${digits(latency.p50, 1)} (${digits(latency.ratio, 2)})`
        }),
      ]),
    ),
  ]
}

/** @param {import('../run.mjs').Report} report */
function formatMemory({ memory }) {
  if (memory === undefined) return []
  const kib = (/** @type {number} */ bytes) => `${Math.round(bytes / 1024)} KiB`
  return [
    `idle warm cell: ${kib(memory.privateBytes)} of its own, ${kib(memory.proportionalBytes)} with its share ` +
      `of shared pages, in ${memory.processes.length} process(es)`,
  ]
}

/** @param {import('../run.mjs').Report} report */
function formatTrouble({ absent, start, rates, work }) {
  const measured = [
    { title: 'start', results: start },
    ...rates.map((rate) => ({ title: `${inFlightOf(rate)} in flight`, results: rate })),
    ...work,
  ]
  const failures = measured.flatMap(({ title, results }) =>
    Object.entries(results)
      .filter(([, { failed }]) => failed > 0)
      .map(([name, { failed, failure }]) => `${name}, ${title}: ${failed} call(s) failed (${failure})`),
  )
  const missing = absent.map(({ name, reason }) => `${name} did not run: ${reason}`)
  return missing.length + failures.length === 0 ? [] : [[...missing, ...failures].join('\n')]
}

/**
 * @param {number | undefined} value NaN, or null out of a file, where every call failed
 * @param {number} places
 */
function digits(value, places) {
  return Number.isFinite(value) ? Number(value).toFixed(places) : ''
}

/**
 * @param {string[]} head
 * @param {string[][]} rows
 */
function formatTable(head, rows) {
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column]?.length ?? 0)))
  const line = (/** @type {string[]} */ row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  ')
      .trimEnd()
  return [line(head), widths.map((width) => '-'.repeat(width)).join('  '), ...rows.map(line)].join('\n')
}
