import { bar, COLOURS, dot, label, line, page } from './svg.mjs'

const WIDTH = 760
const LEFT = 240
const RIGHT = 90
const PLOT = WIDTH - LEFT - RIGHT
const ROW = 22

/**
 * @typedef {{ shapes: string[], height: number }} Panel drawn at y = top
 * @typedef {{ title: string, colour: string, value: number, text: string, far?: number | undefined }} Row
 */

/**
 * @param {import('../run.mjs').Report} report
 * @returns {string} SVG
 */
export function drawChart(report) {
  const { machine } = report
  const caption = `Linux ${machine.kernel} ${machine.arch}, ${machine.cpus} CPUs, Node ${machine.node}; one interleaved run`
  const panels = [drawStart(report), drawRate(report), ...drawWork(report)].filter((panel) => panel !== undefined)
  let top = 16
  const shapes = panels.flatMap((draw) => {
    const panel = draw(top)
    top += panel.height
    return panel.shapes
  })
  return page(WIDTH, top + 24, caption, [...shapes, label(caption, { x: 8, y: top + 12, size: 11 })])
}

/** @param {import('../run.mjs').Report} report */
function drawStart({ contestants, start }) {
  const rows = contestants.flatMap(({ name, title, role }) => {
    const latency = start[name]
    if (latency === undefined || latency.n === 0) return []
    return [
      { title, colour: colourOf(role), value: latency.p50, far: latency.p95, text: `${latency.p50.toFixed(2)} ms` },
    ]
  })
  if (rows.length === 0) return undefined
  return (/** @type {number} */ top) =>
    drawDots('One call of /bin/true: p50, line to p95 (milliseconds, logarithmic scale)', rows, top)
}

/** @param {import('../run.mjs').Report} report */
function drawRate({ contestants, rates }) {
  const rate = rates.at(-1)
  if (rate === undefined) return undefined
  const rows = contestants.flatMap(({ name, title, role }) => {
    const own = rate[name]
    return own === undefined
      ? []
      : [{ title, colour: colourOf(role), value: own.perSecond, text: own.perSecond.toFixed(0) }]
  })
  const inFlight = rate['bare']?.inFlight ?? 0
  return (/** @type {number} */ top) =>
    drawBars(`Calls of /bin/true per second, ${inFlight} in flight (more is better)`, rows, top)
}

/** @param {import('../run.mjs').Report} report */
function drawWork({ contestants, work }) {
  // One scale for all of them, so that lengths can be compared between the panels too.
  const longest = Math.max(
    ...work.flatMap(({ results }) => Object.values(results).map(({ n, ratio }) => (n === 0 ? 0 : ratio))),
  )
  return work.map(({ title, results }) => {
    const rows = contestants.flatMap(({ name, title: who, role }) => {
      const latency = results[name]
      if (latency === undefined || latency.n === 0) return []
      return [{ title: who, colour: colourOf(role), value: latency.ratio, text: latency.ratio.toFixed(2) }]
    })
    return (/** @type {number} */ top) =>
      drawBars(`${title}: time relative to bare (less is better)`, rows, top, longest)
  })
}

/**
 * Bars always start at zero.
 * @param {string} title
 * @param {Row[]} rows
 * @param {number} top
 * @param {number} [longest] the value of a bar across the whole plot
 * @returns {Panel}
 */
function drawBars(title, rows, top, longest = Math.max(...rows.map(({ value }) => value))) {
  const scale = PLOT / longest
  const bottom = top + 16 + rows.length * ROW
  const shapes = rows.flatMap((row, index) => {
    const y = top + 16 + index * ROW
    return [
      label(row.title, { x: LEFT - 8, y: y + 14, anchor: 'end' }),
      bar({ x: LEFT, y: y + 3, width: row.value * scale, height: ROW - 7, colour: row.colour }),
      label(row.text, { x: LEFT + row.value * scale + 6, y: y + 14 }),
    ]
  })
  const axis = line({ x1: LEFT, y1: top + 14, x2: LEFT, y2: bottom })
  return {
    shapes: [label(title, { x: 8, y: top + 4, size: 13, weight: 'bold' }), ...shapes, axis],
    height: bottom - top + 28,
  }
}

/**
 * A logarithmic axis has no zero, so no bar either: a dot, and a line to the far value.
 * @param {string} title
 * @param {Row[]} rows
 * @param {number} top
 * @returns {Panel}
 */
function drawDots(title, rows, top) {
  const least = Math.floor(Math.log10(Math.min(...rows.map(({ value }) => value))))
  const most = Math.ceil(Math.log10(Math.max(...rows.map(({ value, far }) => far ?? value))))
  const at = (/** @type {number} */ value) => LEFT + ((Math.log10(value) - least) / (most - least)) * PLOT
  const bottom = top + 16 + rows.length * ROW
  const decades = Array.from({ length: most - least + 1 }, (_, index) => 10 ** (least + index))
  const grid = decades.flatMap((value) => [
    line({ x1: at(value), y1: top + 14, x2: at(value), y2: bottom, dash: '2 4' }),
    label(`${value} ms`, { x: at(value), y: bottom + 14, anchor: 'middle', size: 11 }),
  ])
  const shapes = rows.flatMap((row, index) => {
    const y = top + 16 + index * ROW + 10
    const far = row.far ?? row.value
    return [
      label(row.title, { x: LEFT - 8, y: y + 4, anchor: 'end' }),
      line({ x1: at(row.value), y1: y, x2: at(far), y2: y, colour: row.colour, width: 3 }),
      dot({ x: at(row.value), y, radius: 5, colour: row.colour }),
      label(row.text, { x: at(far) + 9, y: y + 4 }),
    ]
  })
  return {
    shapes: [label(title, { x: 8, y: top + 4, size: 13, weight: 'bold' }), ...grid, ...shapes],
    height: bottom - top + 42,
  }
}

/** @param {string} role */
function colourOf(role) {
  switch (role) {
    case 'cordon':
      return COLOURS.cordon
    case 'baseline':
      return COLOURS.baseline
    default:
      return COLOURS.peer
  }
}
