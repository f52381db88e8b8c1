import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

import Ajv from 'ajv'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'

import * as policies from '../../src/policy/index.js'
import {
  beyond,
  compileNetwork,
  describeWitness,
  isReadable,
  isWritable,
  loadPolicyText,
  parsePolicy,
} from '../../src/policy/index.js'

import { blocksOf, tablesOf } from './markdown-tables.js'
import { boundaryOf, path } from './places.js'
import { request } from './requests.js'

const page = readFileSync(fileURLToPath(new URL('../../docs/policy.md', import.meta.url)), 'utf8')

const schema = JSON.parse(
  readFileSync(fileURLToPath(import.meta.resolve('cordon/schemas/policy.schema.json')), 'utf8'),
) as object

const rows = (...columns: readonly string[]): readonly (readonly [string, string, string])[] => {
  const table = tablesOf(page).find((each) => each.columns.join() === columns.join())
  expect(table?.rows.length).toBeGreaterThan(3)
  return (table?.rows ?? []).map(([one = '', two = '', three = '']) => [one, two, three])
}

const value = (text: string): unknown => parse(text)

describe('docs/policy.md', () => {
  it('has only tables that are tested here', () => {
    const tested = [
      'pattern,path,granted',
      'write,path,writable',
      'network,request,answer',
      'policy,egress class',
      'policy,risk',
      'file,error',
      'policy,within,beyond it',
    ]
    expect(tablesOf(page).map(({ columns }) => columns.join())).toEqual(tested)
  })

  it('shows policies that the parser and the schema accept', () => {
    const validate = new Ajv.Ajv({ strictTypes: false, strictRequired: false }).compile(schema)
    const examples = blocksOf(page, 'yaml')
    expect(examples.length).toBeGreaterThan(0)
    for (const text of examples) {
      loadPolicyText(text, 'example.yaml')
      expect([validate(value(text)), validate.errors]).toEqual([true, null])
    }
  })

  it('imports only existing names', () => {
    const names = blocksOf(page, 'ts').flatMap((text) => /import \{ (.*) \}/.exec(text)?.[1]?.split(', ') ?? [])
    expect(names.length).toBeGreaterThan(0)
    expect(names.filter((name) => !(name in policies))).toEqual([])
  })

  it.each(rows('pattern', 'path', 'granted'))('the pattern %s grants %s: %s', (pattern, text, expected) => {
    expect(isReadable(boundaryOf({ filesystem: { read: [pattern] } }), path(text)) ? 'yes' : 'no').toBe(expected)
  })

  it.each(rows('write', 'path', 'writable'))('writing %s makes %s writable: %s', (pattern, text, expected) => {
    expect(isWritable(boundaryOf({ filesystem: { write: [pattern] } }), path(text)) ? 'yes' : 'no').toBe(expected)
  })

  it.each(rows('network', 'request', 'answer'))('with network %s the request %s is %s', (network, text, expected) => {
    expect(compileNetwork(boundaryOf({ network: value(network) })).answer(request(text)).kind).toBe(expected)
  })

  it.each(rows('policy', 'egress class'))('%s has the egress class %s', (policy, expected) => {
    expect(boundaryOf(value(policy)).egressClass.level).toBe(expected)
  })

  it.each(rows('policy', 'risk'))('%s has the risk %s', (policy, expected) => {
    expect(boundaryOf(value(policy)).risk.level).toBe(expected)
  })

  it.each(rows('file', 'error'))('the file %s is refused with: %s', (text, message) => {
    expect(() => loadPolicyText(text, 'policy.yaml')).toThrow(expect.objectContaining({ message }))
  })

  it.each(rows('policy', 'within', 'beyond it'))('%s within %s, witness: %s', (a, b, expected) => {
    const [found] = beyond(parsePolicy(value(a), 'a'), parsePolicy(value(b), 'b'))
    expect(found === undefined ? 'nothing' : describeWitness(found)).toBe(expected)
  })
})
