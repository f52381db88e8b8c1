// Writes schemas/ from the tables that the code reads and checks by. Run it after a build; a test holds the files to it.
import { writeFileSync } from 'node:fs'

import { policyFileSchema, policySchema } from '../dist/policy/files/json-schema.js'

const SCHEMAS = { policy: policySchema(), 'policy-file': policyFileSchema() }

for (const [name, schema] of Object.entries(SCHEMAS))
  writeFileSync(new URL(`../schemas/${name}.schema.json`, import.meta.url), `${JSON.stringify(schema, null, 2)}\n`)
