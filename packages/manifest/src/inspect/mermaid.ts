import { diagramOf } from './diagram.js'
import type { Box } from './diagram.js'
import type { Inspection } from './inspection.js'

/** Names stand only inside quoted labels, with every character as an entity that Mermaid or HTML could read. */
export const mermaid = (inspection: Inspection): string => {
  const { agents, tools, resources, arrows } = diagramOf(inspection)
  return [
    'flowchart LR',
    ...agents.map((box) => `  ${box.id}(["${label(box.label)}"])`),
    ...tools.map((box) => `  ${box.id}["${label(box.label)}"]${styleOf(box)}`),
    ...resources.map((box) => `  ${box.id}[("${label(box.label)}")]`),
    ...arrows.map(({ from, to, label: text }) => `  ${from} -->${text === '' ? '' : `|"${label(text)}"|`} ${to}`),
    '  classDef path stroke:#c62828,stroke-width:3px',
    '  classDef asks stroke-dasharray:4 3',
    '',
  ].join('\n')
}

const styleOf = ({ mark }: Box): string => (mark === undefined ? '' : `:::${mark}`)

/** Mermaid writes a character as `#35;`. */
const label = (text: string): string =>
  text.replace(/[^\p{L}\p{N} _.,:/~()*@=+-]/gu, (character) => `#${String(character.codePointAt(0))};`)
