// Checks the option `registry` of createCordon and of a call.
import { isAmount, isMapping, such } from '../../shapes/index.js'

import { aText, mapping } from '../option-checks.js'
import type { AskedWith } from '../call-outcome.js'
import type { RegistrySource } from '../registry/call-registry.js'

export const registryOption = such<RegistrySource>(
  'a registry',
  (value) => isMapping(value) && typeof value['open'] === 'function',
  { fix: 'make one with teamRegistry({ server: "unix:/path/of/socket", owner: "team", … }) of @cordon/team' },
)

export const askedWithOption = mapping<AskedWith>(
  {
    run: aText('the id of a run'),
    step: aText('the name of a step'),
    costEstimate: such('a number from 0', isAmount),
    validMs: such('a number of milliseconds', (value) => isAmount(value) && value > 0),
  },
  'registry: { run: "0190…", costEstimate: 0.02 }',
)
