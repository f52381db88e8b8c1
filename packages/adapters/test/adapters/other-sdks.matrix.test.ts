// SDKs without an adapter: their examples use the runtime alone. Strands asks for Node 22.
import { expect, test } from 'vitest'

import { newerNode } from '../../../../scripts/tests/mcp-programs.mjs'
import { SDK_PACKAGES, sdkModules } from '../../../../scripts/tests/sdk-programs.mjs'
import { needs } from '../../../../test/requirement.js'
import { runExampleWith } from './notes.js'

test.for(['strands', 'adk'] as const)('the example of %s ends as its page says, with Node 22', (name, context) => {
  const [modules, node] = [sdkModules(name), newerNode()]
  needs(
    context,
    modules !== undefined && node !== undefined,
    `npm did not install ${SDK_PACKAGES[name]} or a newer Node`,
  )
  expect(runExampleWith(modules ?? '', name, node)).toMatchObject({ status: 0 })
})
