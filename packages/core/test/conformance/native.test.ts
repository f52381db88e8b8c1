import { describe, expect, test } from 'vitest'

import { needs } from '../../../../test/requirement.js'

import { declaredFindings, renderCapabilities, untriedIn } from './capabilities.js'
import { AREAS } from './cases.js'
import { CONTAINER_AREAS, CONTAINER_GAPS } from './container-gaps.js'
import { describeConformance } from './describe-conformance.js'
import type { Gaps } from './gap.js'
import { LANDLOCK_GAPS, MOUNTS_GAPS, NATIVE_GAPS } from './native-gaps.js'
import { nativeCandidate } from './native.js'
import { BUBBLEWRAP_GAPS, FIREJAIL_AREAS, FIREJAIL_GAPS } from './walls-gaps.js'
import { walledCandidate } from './walls.js'

const gapsIn = (areas: ReadonlySet<string>, gaps: Gaps): Gaps => {
  const known = new Set(
    AREAS.flatMap(({ title, claims }) => (areas.has(title) ? claims.map(({ claim }) => claim) : [])),
  )
  return Object.fromEntries(Object.entries(gaps).filter(([claim]) => known.has(claim)))
}

const candidates = [
  { candidate: await nativeCandidate('namespaces', NATIVE_GAPS), areas: AREAS },
  { candidate: await nativeCandidate('landlock', LANDLOCK_GAPS), areas: AREAS },
  { candidate: await nativeCandidate('mounts', MOUNTS_GAPS), areas: AREAS },
  { candidate: await walledCandidate('bubblewrap', BUBBLEWRAP_GAPS), areas: AREAS },
  {
    candidate: await walledCandidate('firejail', gapsIn(FIREJAIL_AREAS, FIREJAIL_GAPS)),
    areas: AREAS.filter(({ title }) => FIREJAIL_AREAS.has(title)),
  },
]
const columns = candidates.map(({ candidate, areas }) => ({
  name: candidate.name,
  areas,
  findings: describeConformance(candidate, areas),
}))

describe('docs/capabilities.md', () => {
  test('equals the result of the suite', async (context) => {
    for (const { candidate } of candidates) {
      const { name, missing } = candidate
      needs(context, missing === undefined, `${name}: ${missing ?? ''}`)
    }
    // A claim that failed is a failure of its own, and no reason to write that it was not tried.
    for (const column of columns) expect(untriedIn(column, column.areas), column.name).toEqual([])
    // Containers have a suite of their own, because not each user who runs this one has an engine.
    const containers = { name: 'podman', findings: declaredFindings(CONTAINER_AREAS, CONTAINER_GAPS) }
    await expect(renderCapabilities(AREAS, [...columns, containers])).toMatchFileSnapshot('../../docs/capabilities.md')
  })
})
