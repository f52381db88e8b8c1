import { readFileSync } from 'node:fs'

import { describe, expect, test } from 'vitest'

import { POLICY_GATE, RUNTIME_STANDARD } from './behaviours.js'

const textOf = (file: string): string => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8')
const hasTest = (file: string, title: string): boolean =>
  [`'${title}'`, `"${title}"`].some((quoted) => textOf(file).includes(`(${quoted},`))

describe.each([
  ['a policy gate', POLICY_GATE],
  ['the runtime standard', RUNTIME_STANDARD],
] as const)('every behaviour of %s has a test that names it', (_name, behaviours) => {
  test.each(behaviours.map((each) => [each.behaviour, each.tests] as const))('%s', (_behaviour, tests) => {
    expect(tests).not.toEqual([])
    expect(tests.filter(([file, title]) => !hasTest(file, title))).toEqual([])
  })
})
