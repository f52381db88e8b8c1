import { expect, test } from 'vitest'

import { runExample } from '../../../adapters/test/adapters/notes.js'

test('the example of a hook ends as its page says', () => {
  expect(runExample('hook')).toMatchObject({ status: 0 })
})
