import { expect, test } from 'vitest'

import { CORPUS } from './corpus.js'
import { saidOf } from './said.js'

const said = saidOf(CORPUS)

test.each(CORPUS.map((each, at) => ({ ...each, at })))('$claim', ({ at, does }) => {
  expect(said(at)).toEqual(does)
})
