import { randomBytes } from 'node:crypto'

import { describe, expect, it } from 'vitest'

import { checkPermit, createSpentPermits, openPermit, requirePermit, sealPermit, termsOf } from '../../src/gate/index.js'
import * as gateRoom from '../../src/gate/index.js'
import type { Permit } from '../../src/gate/index.js'

import { NOW, decide, toolWith } from './stage.js'

const permitFor = async (input: unknown = { a: 1, b: [2] }): Promise<Permit> => {
  const evaluation = await decide({}, input)
  if (evaluation.kind !== 'permitted') throw new Error(evaluation.kind)
  return evaluation.permit
}
const use = { tool: 'tool', arguments: { b: [2], a: 1 }, policyHash: toolWith().policyHash, now: NOW }
const problem = (permit: unknown, changed: object = {}) => {
  const checked = checkPermit(permit, { ...use, ...changed })
  return checked.kind === 'refused' ? checked.problem : 'valid'
}

describe('a permit', () => {
  it('is for this tool, these arguments in any order of keys, this policy, until then, once', async () => {
    expect(problem(await permitFor(), { tool: 'other' })).toBe('other-tool')
    expect(problem(await permitFor(), { arguments: { a: 1, b: [3] } })).toBe('other-arguments')
    expect(problem(await permitFor(), { arguments: { a: 1, b: [2], c: 3 } })).toBe('other-arguments')
    expect(problem(await permitFor(), { arguments: { a: '1', b: [2] } })).toBe('other-arguments')
    expect(problem(await permitFor(), { arguments: undefined })).toBe('other-arguments')
    expect(problem(await permitFor(), { policyHash: 'sha256:wider' })).toBe('other-policy')
    expect(problem(await permitFor(), { now: NOW + 60_000 })).toBe('expired')
    expect(problem(await permitFor(), { now: Number.NaN })).toBe('expired')
    const permit = await permitFor()
    expect(problem(permit)).toBe('valid')
    expect(problem(permit)).toBe('spent')
  })

  it('that was refused for something else is not spent by that', async () => {
    const permit = await permitFor()
    expect(problem(permit, { tool: 'other' })).toBe('other-tool')
    expect(problem(permit)).toBe('valid')
  })

  it('hands out the arguments that were checked, which nobody can change any more', async () => {
    let reads = 0
    const shifty = {
      b: [2],
      get a() {
        reads += 1
        return reads === 1 ? 1 : 666
      },
    }
    const given = requirePermit(await permitFor(), { ...use, arguments: shifty })
    expect(given).toEqual({ a: 1, b: [2] })
    expect(() => Reflect.set(given as object, 'a', 2) || expect.fail()).toThrow()
    expect(reads).toBe(1)
  })

  it('cannot be forged by code in the same process', async () => {
    const permit = await permitFor()
    const terms = termsOf(permit)
    const Minted = permit.constructor as new (...given: unknown[]) => object
    for (const forged of [Object.assign({}, permit), { terms }, Object.create(permit) as object, structuredClone({ terms }), Object.create(Object.getPrototypeOf(permit) as object, { terms: { value: terms } }) as object, JSON.parse(JSON.stringify({ terms })), new Proxy(permit, {}), null, undefined, 'permit', 1]) {
      expect(problem(forged)).toBe('not-a-permit')
    }
    expect(() => new Minted(undefined, terms)).toThrow(TypeError)
    expect(() => new Minted(Symbol('only the gate mints permits'), terms)).toThrow(TypeError)
    class Imposter extends Minted {}
    expect(() => new Imposter(undefined, terms)).toThrow(TypeError)
    expect(Reflect.set(permit, 'terms', { ...terms, tool: 'other' })).toBe(false)
    expect(Reflect.set(terms ?? {}, 'tool', 'other')).toBe(false)
    expect(Object.keys(gateRoom).filter((name) => /mint/i.test(name))).toEqual([])
  })

  it('is what runners demand: without a valid one there is an error', async () => {
    expect(() => requirePermit({}, use)).toThrow(expect.objectContaining({ code: 'permit-refused' }))
    expect(requirePermit(await permitFor(), use)).toEqual({ a: 1, b: [2] })
  })

  it('is minted only for calls that may run', async () => {
    for (const staged of [{ rules: [{ effect: 'deny', because: 'x' }] }, { rules: [{ effect: 'ask', because: 'x' }] }, { mode: 'never' as const, rules: [{ effect: 'ask', because: 'x' }] }]) {
      expect(await decide(staged)).not.toHaveProperty('permit')
    }
  })

  it('belongs to the decision on record', async () => {
    const evaluation = await decide({}, use.arguments)
    if (evaluation.kind !== 'permitted') throw new Error(evaluation.kind)
    const { decision, permit } = evaluation
    expect(termsOf(permit)).toMatchObject({ decisionId: decision.decision_id, callId: decision.call_id, argumentsHash: decision.arguments_hash, policyHash: decision.policy_hash })
    expect(decision.expires_at).toBe(new Date(NOW + 60_000).toISOString())
  })
})

describe('a permit that leaves the process', () => {
  const key = randomBytes(32)
  const opening = () => ({ key, spent: createSpentPermits(() => NOW), now: NOW })

  it('comes back as a permit for the same call', async () => {
    const opened = openPermit(sealPermit(await permitFor(), key), opening())
    expect(opened.kind === 'permit' && problem(opened.permit)).toBe('valid')
  })

  it('is refused with another key, changed, cut short or expired', async () => {
    const sealed = sealPermit(await permitFor(), key)
    const [version = '', payload = '', signature = ''] = sealed.split('.')
    const changed = Buffer.from(Buffer.from(payload, 'base64url').toString().replace('"tool":"tool"', '"tool":"bash"')).toString('base64url')
    expect(openPermit(sealed, { ...opening(), key: randomBytes(32) })).toMatchObject({ problem: 'forged' })
    expect(openPermit(`${version}.${changed}.${signature}`, opening())).toMatchObject({ problem: 'forged' })
    expect(openPermit(`${version}.${payload}.`, opening())).toMatchObject({ problem: 'forged' })
    expect(openPermit(`${version}.${payload}.${signature.slice(0, -4)}`, opening())).toMatchObject({ problem: 'forged' })
    for (const text of ['', 'x', `${sealed}.x`, `other.${payload}.${signature}`]) expect(openPermit(text, opening())).toMatchObject({ problem: 'malformed' })
    expect(openPermit(sealed, { ...opening(), now: NOW + 60_000 })).toMatchObject({ problem: 'expired' })
  })

  it('cannot be replayed', async () => {
    const sealed = sealPermit(await permitFor(), key)
    const shared = opening()
    expect(openPermit(sealed, shared).kind).toBe('permit')
    expect(openPermit(sealed, shared)).toMatchObject({ problem: 'spent' })
  })

  it('needs a key that is worth the name', async () => {
    const permit = await permitFor()
    expect(() => sealPermit(permit, new Uint8Array(8))).toThrow(RangeError)
  })

  it('what was opened is remembered only for as long as it could be used', () => {
    let time = 0
    const spent = createSpentPermits(() => time)
    expect(spent.add('a', 10)).toBe(true)
    expect(spent.add('a', 10)).toBe(false)
    time = 10
    expect(spent.add('b', 20)).toBe(true)
    expect(spent.add('a', 30)).toBe(true)
  })
})
