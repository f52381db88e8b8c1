// The claims of test/conformance in containers of a real engine: that of root, and a rootless one of another user.
import { expect, test } from 'vitest'

import { declaredFindings } from '../conformance/capabilities.js'
import { CONTAINER_AREAS, CONTAINER_GAPS } from '../conformance/container-gaps.js'
import { containerCandidate } from '../conformance/containers.js'
import { describeConformance } from '../conformance/describe-conformance.js'
import { needs } from '../../../../test/requirement.js'

import { ENGINE_KIND, engineProblem, startEngine } from './engine.js'
import { hostImage } from './host-image.js'

const problem = engineProblem()
const engine = problem === undefined ? await startEngine() : undefined
const candidate = containerCandidate(
  {
    name: `podman (${ENGINE_KIND})`,
    missing: problem,
    socket: engine?.socket ?? '',
    image: engine === undefined ? '' : hostImage(engine),
    processes: () => engine?.processes() ?? [],
  },
  CONTAINER_GAPS,
)
const findings = describeConformance(candidate, CONTAINER_AREAS)

test('the results are those of docs/capabilities.md', (context) => {
  needs(context, problem === undefined, problem ?? '')
  expect(findings).toEqual(declaredFindings(CONTAINER_AREAS, CONTAINER_GAPS))
})
