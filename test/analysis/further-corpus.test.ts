import { describe, expect, test } from 'vitest'

import { FURTHER, MISSED } from './further-corpus.js'
import { saidOf } from './said.js'

const said = saidOf([...FURTHER, ...MISSED])

test.each(FURTHER.map((each, at) => ({ ...each, at })))('$claim', ({ at, does }) => {
  expect(said(at)).toEqual(does)
})

// A case that fails here may be right now: it then belongs to FURTHER.
describe('what is missed', () => {
  test.each(MISSED.map((each, at) => ({ ...each, at: FURTHER.length + at })))('$claim', ({ at, does, says }) => {
    expect(said(at)).toEqual(says)
    expect(says).not.toEqual(does)
  })
})
