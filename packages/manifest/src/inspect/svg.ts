// A diagram as SVG: agents on the left, tools in the middle, what they touch on the right.
import { diagramOf } from './diagram.js'
import type { Box, Diagram } from './diagram.js'
import type { Inspection } from './inspection.js'

const ROW = 44
const HEIGHT = 30
const WIDTH = 330
const GAP = 170
const MARGIN = 20

interface Placed extends Box {
  readonly x: number
  readonly y: number
}

const STYLE = [
  'svg{background:#fff;color:#1f2328}',
  'text{font:13px ui-monospace,monospace;fill:currentColor}',
  'rect{fill:#f6f8fa;stroke:#57606a}',
  '.agent rect{fill:#ddf4ff}',
  '.path rect{stroke:#c62828;stroke-width:3}',
  '.asks rect{stroke-dasharray:4 3}',
  'path{fill:none;stroke:#8c959f}',
  '.word{font-size:11px;fill:#57606a}',
  '@media(prefers-color-scheme:dark){svg{background:#0d1117;color:#e6edf3}rect{fill:#161b22;stroke:#8b949e}' +
    '.agent rect{fill:#0c2d6b}.path rect{stroke:#ff7b72}path{stroke:#6e7681}.word{fill:#8b949e}}',
].join('')

export const svg = (inspection: Inspection): string => {
  const diagram = diagramOf(inspection)
  const placed = placesOf(diagram)
  const rows = Math.max(1, diagram.agents.length, diagram.tools.length, diagram.resources.length)
  const [width, height] = [2 * MARGIN + 3 * WIDTH + 2 * GAP, 2 * MARGIN + rows * ROW]
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" ` +
      `height="${height}" role="img">`,
    '<title>Agents, their tools and what those touch</title>',
    `<style>${STYLE}</style>`,
    ...diagram.arrows.map((arrow) => arrowOf(placed.get(arrow.from), placed.get(arrow.to), arrow.label)),
    ...diagram.agents.map((box) => boxOf(placed.get(box.id), 'agent')),
    ...diagram.tools.map((box) => boxOf(placed.get(box.id), box.mark ?? 'tool')),
    ...diagram.resources.map((box) => boxOf(placed.get(box.id), 'resource')),
    '</svg>',
    '',
  ].join('\n')
}

const placesOf = ({ agents, tools, resources }: Diagram): ReadonlyMap<string, Placed> =>
  new Map(
    [agents, tools, resources].flatMap((boxes, column) =>
      boxes.map((box, row) => [box.id, { ...box, x: MARGIN + column * (WIDTH + GAP), y: MARGIN + row * ROW }] as const),
    ),
  )

const boxOf = (box: Placed | undefined, kind: string): string => {
  if (box === undefined) return ''
  const [x, y] = [String(box.x), String(box.y)]
  // A long label becomes narrower instead of leaving its box.
  const isLong = box.label.length * 8 > WIDTH - 20
  return (
    `<g class="${kind}"><rect x="${x}" y="${y}" width="${WIDTH}" height="${HEIGHT}" rx="6"/>` +
    `<text x="${box.x + 10}" y="${box.y + 20}"` +
    `${isLong ? ` textLength="${WIDTH - 20}" lengthAdjust="spacingAndGlyphs"` : ''}>${escaped(box.label)}</text></g>`
  )
}

const arrowOf = (from: Placed | undefined, to: Placed | undefined, label: string): string => {
  if (from === undefined || to === undefined) return ''
  const [startX, startY, endX, endY] = [from.x + WIDTH, from.y + HEIGHT / 2, to.x, to.y + HEIGHT / 2]
  const middle = (startX + endX) / 2
  const line = `<path d="M${startX} ${startY}C${middle} ${startY} ${middle} ` + `${endY} ${endX} ${endY}"/>`
  if (label === '') return line
  return `${line}<text class="word" text-anchor="end" x="${endX - 6}" y="${endY - 4}">${escaped(label)}</text>`
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '')
