// Runs the conformance suite with a launcher that is built with the address and undefined-behaviour sanitizers. They
// check every process: supervisor, keeper, nursery, watcher, and the tool until its exec.
import { afterAll, describe, expect, test } from 'vitest'

import { AREAS } from '../conformance/cases.js'
import { describeConformance } from '../conformance/describe-conformance.js'
import { LANDLOCK_GAPS, NATIVE_GAPS } from '../conformance/native-gaps.js'
import { nativeCandidate } from '../conformance/native.js'
import { needs } from '../../../../test/requirement.js'

import { sanitizedLauncher } from './launcher.js'

// Much of the same: more of it shows a sanitizer nothing new, and takes it minutes.
const BULK = /\d0 MB|\d0 calls|thousands deep|closing while calls begin/
const areas = AREAS.map(({ title, claims }) => ({ title, claims: claims.filter(({ claim }) => !BULK.test(claim)) }))

const launcher = sanitizedLauncher()

if ('missing' in launcher) {
  test('a launcher with sanitizers can be built', (context) => {
    needs(context, false, launcher.missing)
  })
} else {
  afterAll(launcher.remove)
  for (const candidate of [
    await nativeCandidate('namespaces', NATIVE_GAPS, launcher.path),
    await nativeCandidate('landlock', LANDLOCK_GAPS, launcher.path),
  ]) {
    describeConformance({ ...candidate, name: `${candidate.name}, with sanitizers` }, areas)
  }
  describe('the sanitizers of the launcher', () => {
    test('report nothing', () => {
      expect(launcher.reports()).toEqual([])
    })
  })
}
