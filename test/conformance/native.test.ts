import { describe, expect, test } from 'vitest'

import { needs } from '../requirement.js'

import { renderCapabilities } from './capabilities.js'
import { AREAS } from './cases.js'
import { describeConformance } from './describe-conformance.js'
import { LANDLOCK_GAPS, NATIVE_GAPS } from './native-gaps.js'
import { nativeCandidate } from './native.js'

const candidates = [await nativeCandidate('namespaces', NATIVE_GAPS), await nativeCandidate('landlock', LANDLOCK_GAPS)]
const columns = candidates.map((candidate) => ({ name: candidate.name, findings: describeConformance(candidate, AREAS) }))

describe('docs/capabilities.md', () => {
  test('says exactly what the suite found', async (context) => {
    for (const { name, missing } of candidates) needs(context, missing === undefined, `${name}: ${missing ?? ''}`)
    await expect(renderCapabilities(AREAS, columns)).toMatchFileSnapshot('../../docs/capabilities.md')
  })
})
