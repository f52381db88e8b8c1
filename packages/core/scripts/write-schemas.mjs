// Writes schemas/ from the shapes of the code. Run it after a build. Tests compare the files.
import { writeFileSync } from 'node:fs'

import { permissionDecisionSchema } from '../dist/gate/record/permission-decision.js'
import { permissionStateSchema } from '../dist/gate/record/permission-state.js'
import { manifestSchema } from '../dist/manifest/manifest.js'
import { policyFileSchema, policySchema } from '../dist/policy/files/json-schema.js'
import { eventSchema } from '../dist/runtime/events/event-shapes.js'
import { sandboxProfileSchema } from '../dist/sandbox/plan/sandbox-profile.js'

const SCHEMAS = {
  'policy': policySchema(),
  'policy-file': policyFileSchema(),
  'permission_state': permissionStateSchema(),
  'permission_decision': permissionDecisionSchema(),
  'sandbox_profile': sandboxProfileSchema(),
  'event': eventSchema(),
  'manifest': manifestSchema(),
}

for (const [name, schema] of Object.entries(SCHEMAS))
  writeFileSync(new URL(`../schemas/${name}.schema.json`, import.meta.url), `${JSON.stringify(schema, null, 2)}\n`)
