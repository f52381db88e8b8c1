import { expect, test } from 'vitest'

import type { Inspection } from '../../src/inspect/inspection.js'
import { json } from '../../src/inspect/json.js'
import { markdown } from '../../src/inspect/markdown.js'
import { mermaid } from '../../src/inspect/mermaid.js'
import { svg } from '../../src/inspect/svg.js'
import { text } from '../../src/inspect/text.js'
import { exfiltrations } from '@cordon/manifest'
import { toolRows } from '../../src/inspect/overview.js'
import { agentOf, manifestWith, serverOf, toolOf } from './agents.js'

const HOSTILE = 'a`b|c\n## x\u001b[31m<script>alert(1)</script>"];\u2028click "x" --> y & \'%%{init}%%'

const inspectionOf = (name: string): Inspection => {
  const tool = toolOf(name, { filesystem: { read: ['~/notes'] }, network: ['api.test'] })
  const manifest = manifestWith([agentOf(name, [tool], { mcp_servers: [serverOf(name, {})], dynamic: [name] })])
  return {
    hash: manifest.hash,
    rows: toolRows(manifest),
    dynamic: [{ agent: name, tools: [name] }],
    exfiltrations: exfiltrations(manifest),
    unused: [{ agent: name, tool: name, section: 'read', entry: name }],
    environment: {},
  }
}

const hostile = inspectionOf(HOSTILE)
const plain = inspectionOf('plain')

test('a hostile name cannot act on a terminal or begin a line', () => {
  expect(text(hostile)).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u2028]/)
  expect(text(hostile)).not.toMatch(/^## x/m)
  expect(text(hostile).split('\n')).toHaveLength(text(plain).split('\n').length)
})

test('a hostile name adds no line, cell, heading or HTML to Markdown', () => {
  const lines = markdown(hostile).split('\n')
  expect(lines).toHaveLength(markdown(plain).split('\n').length)
  for (const line of lines) {
    const outside = line.replaceAll(/(`+)(?!`)[\s\S]*?[^`]\1(?!`)/g, 'CODE')
    expect(outside).not.toMatch(/<script|\u001b/)
  }
  const cells = (line: string) => line.split(/(?<!\\)\|/).length
  const [head, ...rows] = lines.filter((line) => line.startsWith('|'))
  for (const row of rows) expect(cells(row)).toBe(cells(head ?? ''))
})

test('a hostile name stays inside its label in Mermaid', () => {
  const bare = (source: string) => source.replaceAll(/"[^"]*"/g, '""')
  expect(bare(mermaid(hostile))).toBe(bare(mermaid(plain)))
  expect(mermaid(hostile)).not.toMatch(/<|%%|`/)
  expect(mermaid(plain)).toContain('["plain"]')
})

/** Elements in the order of their tags. Throws if one is not closed, or if a text has a bare character of XML. */
const elementsOf = (source: string): readonly string[] => {
  const open: string[] = []
  const seen: string[] = []
  let at = 0
  for (const tag of source.matchAll(/<(\/?)([A-Za-z]+)((?:\s[\w:-]+="[^"<]*")*)\s*(\/?)>/g)) {
    const between = source.slice(at, tag.index)
    if (/[<>]|&(?!(?:amp|lt|gt|quot|#39);)/.test(between)) throw new Error(`not well-formed: ${between}`)
    at = tag.index + tag[0].length
    const [, closes, name = '', , empty] = tag
    seen.push(name)
    if (closes === '/') {
      if (open.pop() !== name) throw new Error(`${name} is not open`)
    } else if (empty !== '/') open.push(name)
  }
  if (open.length > 0 || /[<>]/.test(source.slice(at))) throw new Error('not well-formed at its end')
  return seen
}

test('the SVG is well-formed, and a hostile name adds no element to it', () => {
  expect(elementsOf(svg(hostile))).toEqual(elementsOf(svg(plain)))
  expect(elementsOf(svg(plain))).toContain('rect')
  expect(svg(plain)).toContain('prefers-color-scheme:dark')
  expect(() => elementsOf(svg(plain).replace('plain', '<b>'))).toThrow()
})

test('JSON has names as they are, on one line', () => {
  const value = JSON.parse(json(hostile)) as { tools: { tool: string }[]; findings: { id: string }[] }
  expect(value.tools[0]?.tool).toBe(HOSTILE)
  expect(value.findings.map(({ id }) => id)).toEqual(['flow.exfiltration'])
  expect(json(hostile).trimEnd()).not.toContain('\n')
})

test('the table shows each right of a tool, and everything for a tool that nothing confines', () => {
  const tools = [
    toolOf('sync', {
      filesystem: { read: ['docs'], write: ['out'] },
      network: [{ host: 'api.test', methods: ['GET'] }],
      environment: ['TOKEN', 'MODE=x'],
      exec: ['git'],
    }),
    toolOf('free', {}, { kind: 'in-process', approval: 'ask' }),
  ]
  const manifest = manifestWith([agentOf('main', tools)])
  const shown = text({ ...plain, rows: toolRows(manifest), dynamic: [], exfiltrations: [], unused: [] })
  expect(shown).toMatch(/sync +docs +out +api\.test GET +TOKEN, MODE \(set\) +git +allow/)
  expect(shown).toMatch(/free \(in-process\)( +everything){5} +ask/)
})

test('a server without policies for its tools is shown with the rights of its cell, and its calls are denied', () => {
  const server = { ...serverOf('files', { filesystem: { read: ['~/notes'] } }), tools: [] }
  const rows = toolRows(manifestWith([agentOf('a', [], { mcp_servers: [server] })]))
  expect(rows).toMatchObject([{ server: 'files', tool: '*', reads: ['~/notes'], approval: 'deny' }])
})
