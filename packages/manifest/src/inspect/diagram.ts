// The boxes and arrows of a diagram: agents, their tools, and what those touch.
import { visible } from 'cordon/commands'

import { RIGHTS, toolName } from './inspection.js'
import type { Inspection } from './inspection.js'

export interface Diagram {
  readonly agents: readonly Box[]
  readonly tools: readonly Box[]
  readonly resources: readonly Box[]
  readonly arrows: readonly Arrow[]
}

export interface Box {
  readonly id: string
  readonly label: string
  /** A tool whose calls ask, or that is part of an exfiltration path. */
  readonly mark?: 'asks' | 'path'
}

export interface Arrow {
  readonly from: string
  readonly to: string
  readonly label: string
}

const MOST_CHARACTERS = 44

const short = (text: string): string => {
  const characters = Array.from(visible(text))
  return characters.length <= MOST_CHARACTERS
    ? characters.join('')
    : `${characters.slice(0, MOST_CHARACTERS - 1).join('')}…`
}

export const diagramOf = ({ rows, exfiltrations }: Inspection): Diagram => {
  const ids = new Map<string, string>()
  /** Own ids, so that no name of a project is part of the syntax of a diagram. */
  const idOf = (kind: string, ...names: readonly string[]): string => {
    const key = JSON.stringify([kind, ...names])
    const id = ids.get(key) ?? `${kind}${String(ids.size + 1)}`
    ids.set(key, id)
    return id
  }
  const inPath = new Set(
    exfiltrations.flatMap(({ path }) => path.parts.map(({ agent, is, name }) => JSON.stringify([agent, is, name]))),
  )
  const boxes = { agents: new Map<string, Box>(), tools: new Map<string, Box>(), resources: new Map<string, Box>() }
  const arrows = new Map<string, { readonly from: string; readonly to: string; readonly labels: string[] }>()
  const connect = (from: string, to: string, label: string): void => {
    const arrow = arrows.get(`${from} ${to}`) ?? { from, to, labels: [] }
    if (label !== '') arrow.labels.push(label)
    arrows.set(`${from} ${to}`, arrow)
  }
  for (const row of rows) {
    const agent = idOf('agent', row.agent)
    const tool = idOf('tool', row.agent, row.server ?? '', row.tool)
    const part = row.server === undefined ? ['tool', row.tool] : ['server', row.server]
    const isInPath = inPath.has(JSON.stringify([row.agent, ...part]))
    boxes.agents.set(agent, { id: agent, label: short(row.agent) })
    boxes.tools.set(tool, {
      id: tool,
      label: `${short(toolName(row))}${row.approval === 'allow' ? '' : ` (${row.approval})`}`,
      ...(isInPath ? { mark: 'path' } : row.approval === 'ask' ? { mark: 'asks' } : {}),
    })
    connect(agent, tool, '')
    for (const right of RIGHTS)
      for (const entry of row[right]) {
        const resource = idOf('thing', KINDS[right], entry)
        boxes.resources.set(resource, { id: resource, label: `${KINDS[right]} ${short(entry)}` })
        connect(tool, resource, right)
      }
  }
  return {
    agents: [...boxes.agents.values()],
    tools: [...boxes.tools.values()],
    resources: [...boxes.resources.values()],
    arrows: [...arrows.values()].map(({ from, to, labels }) => ({ from, to, label: labels.join(', ') })),
  }
}

const KINDS = { reads: 'file', writes: 'file', reaches: 'host', gets: 'secret', starts: 'program' } as const
