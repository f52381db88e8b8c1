import { describe, expect, test } from 'vitest'

import { needs } from '../requirement.js'

import { renderCapabilities, untriedIn } from './capabilities.js'
import { AREAS } from './cases.js'
import { describeConformance } from './describe-conformance.js'
import { LANDLOCK_GAPS, MOUNTS_GAPS, NATIVE_GAPS } from './native-gaps.js'
import { nativeCandidate } from './native.js'

const candidates = [
  await nativeCandidate('namespaces', NATIVE_GAPS),
  await nativeCandidate('landlock', LANDLOCK_GAPS),
  await nativeCandidate('mounts', MOUNTS_GAPS),
]
const columns = candidates.map((candidate) => ({
  name: candidate.name,
  findings: describeConformance(candidate, AREAS),
}))

describe('docs/capabilities.md', () => {
  test('equals the result of the suite', async (context) => {
    for (const { name, missing } of candidates) needs(context, missing === undefined, `${name}: ${missing ?? ''}`)
    // A claim that failed is a failure of its own, and no reason to write that it was not tried.
    for (const column of columns) expect(untriedIn(column, AREAS), column.name).toEqual([])
    await expect(renderCapabilities(AREAS, columns)).toMatchFileSnapshot('../../docs/capabilities.md')
  })
})
