// The same attacks on cells inside walls.
import { afterAll, describe, test } from 'vitest'

import { CordonError } from '../../src/errors/index.js'
import { openSandbox } from '../../src/sandbox/index.js'
import type { Sandbox } from '../../src/sandbox/index.js'
import { needs } from '../../../../test/requirement.js'
import { inTurn } from '../../../../test/turns.js'

import { cellIn, describeForms, describeMounts } from './harness.js'
import type { Cell } from './harness.js'

const WALLS = ['bubblewrap', 'firejail'] as const

const openIfAny = async (backend: (typeof WALLS)[number]): Promise<Sandbox | string> => {
  try {
    return await openSandbox({ backend })
  } catch (error) {
    if (error instanceof CordonError) return error.message
    throw error
  }
}

const opened = await Promise.all(WALLS.map(async (wall) => [wall, await openIfAny(wall)] as const))
afterAll(async () => {
  for (const [, sandbox] of opened) if (typeof sandbox !== 'string') await sandbox.close()
})

/** One `describe` per form of the cell and per wall, those out of turn for the matrix. */
export const describeCells = (title: string, body: (cell: Cell) => void): void => {
  describeForms(title, body)
  for (const [wall, sandbox] of opened) {
    describe(`${title} (${wall})`, inTurn(title, { form: 'landlock', backend: wall }), () => {
      if (typeof sandbox === 'string')
        test('the host supports this wall', (context) => {
          needs(context, false, `${wall}: ${sandbox}`)
        })
      else body(cellIn(sandbox, 'landlock', wall))
    })
  }
}

/** These, and the form for hosts without Landlock. */
export const describeAllCells = (title: string, body: (cell: Cell) => void): void => {
  describeCells(title, body)
  describeMounts(title, body)
}
