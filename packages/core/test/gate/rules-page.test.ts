import { readFileSync } from 'node:fs'

import { describe, expect, it } from 'vitest'

import { HOOK_POINTS, MODES, RULE_SOURCES, loadRules } from '../../src/gate/index.js'

import { PLACES } from './stage.js'

const page = readFileSync(new URL('../../docs/decisions-and-rules.md', import.meta.url), 'utf8')
const files = Array.from(page.matchAll(/```yaml\n([^]*?)```/g), ([, text = '']) => text)

describe('docs/decisions-and-rules.md', () => {
  it('has rule files that load, with correct examples', () => {
    expect(files).toHaveLength(3)
    const sets = files.map((text) => loadRules(text, 'page.yaml', { source: 'managed', places: PLACES }))
    for (const { rules, trustedProjects } of sets) expect(rules.length + trustedProjects.length).toBeGreaterThan(0)
  })

  it('names every mode, source and hook point', () => {
    const rows = Array.from(page.matchAll(/^\| (\w+) \|/gm), ([, name]) => name)
    expect(MODES.filter((mode) => !rows.includes(mode))).toEqual([])
    for (const name of [...RULE_SOURCES, ...HOOK_POINTS]) expect(page).toContain(`\`${name}\``)
  })
})
