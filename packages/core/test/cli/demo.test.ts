import { expect, test } from 'vitest'

import { cordon } from './cordon.js'

test('the demo succeeds, with every claim checked', () => {
  const { status, stdout } = cordon(['demo'])
  expect(stdout).not.toContain('BROKEN')
  expect(stdout.match(/^ +holds {2}/gm)?.length).toBeGreaterThanOrEqual(6)
  expect(stdout).toContain('The model was fooled. Nothing was lost.')
  expect(status).toBe(0)
})
