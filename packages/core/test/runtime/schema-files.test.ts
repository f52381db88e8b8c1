// Compares the files of schemas/ with the shapes from which the types of the records come.
import { expect, test } from 'vitest'

import { permissionDecisionSchema } from '../../src/gate/record/permission-decision.js'
import { permissionStateSchema } from '../../src/gate/record/permission-state.js'
import { manifestSchema } from '../../src/manifest/manifest.js'
import { eventSchema } from '../../src/runtime/events/event-shapes.js'
import { sandboxProfileSchema } from '../../src/sandbox/plan/sandbox-profile.js'

test.each([
  ['permission_decision', permissionDecisionSchema],
  ['permission_state', permissionStateSchema],
  ['sandbox_profile', sandboxProfileSchema],
  ['event', eventSchema],
  ['manifest', manifestSchema],
])('schemas/%s.schema.json equals the shape', async (name, schema) => {
  await expect(`${JSON.stringify(schema(), null, 2)}\n`).toMatchFileSnapshot(`../../schemas/${name}.schema.json`)
})
