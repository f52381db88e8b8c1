import { describe, expect, it } from 'vitest'

import { checkPermit, requirePermit } from '../../src/gate/index.js'
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
  it('is for one tool, its arguments in any order of keys, one policy, once, until it expires', async () => {
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

  it('is not used up by a refused attempt', async () => {
    const permit = await permitFor()
    expect(problem(permit, { tool: 'other' })).toBe('other-tool')
    expect(problem(permit)).toBe('valid')
  })

  it('contains the checked arguments, which nobody can change', async () => {
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
    const { terms } = permit
    const Minted = permit.constructor as new (...given: unknown[]) => object
    for (const forged of [
      Object.assign({}, permit),
      { terms },
      Object.create(permit) as object,
      structuredClone({ terms }),
      Object.create(Object.getPrototypeOf(permit) as object, { terms: { value: terms } }) as object,
      JSON.parse(JSON.stringify({ terms })),
      new Proxy(permit, {}),
      null,
      undefined,
      'permit',
      1,
    ]) {
      expect(problem(forged)).toBe('not-a-permit')
    }
    expect(() => new Minted(undefined, terms)).toThrow(TypeError)
    expect(() => new Minted(Symbol('only the gate mints permits'), terms)).toThrow(TypeError)
    class Imposter extends Minted {}
    expect(() => new Imposter(undefined, terms)).toThrow(TypeError)
    expect(Reflect.set(permit, 'terms', { ...terms, tool: 'other' })).toBe(false)
    expect(Reflect.set(terms, 'tool', 'other')).toBe(false)
    expect(Object.keys(gateRoom).filter((name) => /mint/i.test(name))).toEqual([])
  })

  it('is required by runners: without a valid one they throw', async () => {
    expect(() => requirePermit({}, use)).toThrow(expect.objectContaining({ code: 'permit-refused' }))
    expect(requirePermit(await permitFor(), use)).toEqual({ a: 1, b: [2] })
  })

  it('is minted only for calls that may run', async () => {
    for (const staged of [
      { rules: [{ effect: 'deny', because: 'x' }] },
      { rules: [{ effect: 'ask', because: 'x' }] },
      { mode: 'never' as const, rules: [{ effect: 'ask', because: 'x' }] },
    ]) {
      expect(await decide(staged)).not.toHaveProperty('permit')
    }
  })

  it('belongs to the recorded decision', async () => {
    const evaluation = await decide({}, use.arguments)
    if (evaluation.kind !== 'permitted') throw new Error(evaluation.kind)
    const { decision, permit } = evaluation
    expect(permit.terms).toMatchObject({
      decisionId: decision.decision_id,
      callId: decision.call_id,
      argumentsHash: decision.arguments_hash,
      policyHash: decision.policy_hash,
    })
    expect(decision.expires_at).toBe(new Date(NOW + 60_000).toISOString())
  })
})
