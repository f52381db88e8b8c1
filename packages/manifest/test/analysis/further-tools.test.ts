import { describe, expect, test } from 'vitest'

import { FURTHER } from './further-tools.js'
import { MISSED } from './missed-tools.js'
import { ODD } from './odd-tools.js'
import { OTHERS } from './other-tools.js'
import { saidOf } from './said.js'

const RIGHT = [...FURTHER, ...OTHERS, ...ODD]
const said = saidOf([...RIGHT, ...MISSED])

test.each(RIGHT.map((each, at) => ({ ...each, at })))('$claim', ({ at, does }) => {
  expect(said(at)).toEqual(does)
})

// A case that fails here may be right now: it then belongs to the others.
describe('what is missed', () => {
  test.each(MISSED.map((each, at) => ({ ...each, at: RIGHT.length + at })))('$claim', ({ at, does, says }) => {
    expect(said(at)).toEqual(says)
    expect(says).not.toEqual(does)
  })
})
