import { describe, expect, it } from 'vitest'

import type { CordonError } from '../../src/errors/index.js'
import { MECHANISMS } from '../../src/policy/index.js'
import { refuseMissingMechanisms } from '../../src/sandbox/plan/requirements.js'

import { path } from '../policy/places.js'

import { hostWith, notHeld } from './host-facts.js'

type Parameter<At extends 0 | 1 | 2> = Parameters<typeof refuseMissingMechanisms>[At]
type Required = Parameter<0>
type Form = Parameter<1>
type HostFacts = Parameter<2>

const refusal = (
  require: Required['require'],
  form: Form,
  host: HostFacts,
  network: Required['network'] = { kind: 'none' },
): CordonError | undefined => {
  try {
    refuseMissingMechanisms({ require, network }, form, host)
    return undefined
  } catch (error) {
    return error as CordonError
  }
}

const NAMESPACES = MECHANISMS.filter((name) => name.endsWith('namespace'))

describe('a required mechanism', () => {
  it('that the host can enforce is accepted', () => {
    expect(
      refusal(['landlock', 'seccomp', 'seccomp-listener', 'rlimit', ...NAMESPACES], 'namespaces', hostWith()),
    ).toBeUndefined()
  })

  it.each(NAMESPACES)('%s is refused in the form that lacks it', (mechanism) => {
    expect(refusal([mechanism], 'landlock', hostWith())).toMatchObject({
      code: 'host-cannot-hold',
      fix: expect.stringContaining('--form auto') as string,
    })
    expect(refusal([mechanism], 'landlock', hostWith({ namespaces: notHeld('EPERM') }))).toMatchObject({
      code: 'host-cannot-hold',
      params: { problem: 'somewhere: EPERM' },
      fix: expect.stringContaining('cordon doctor') as string,
    })
  })

  it('that failed on this host is refused with stage and reason', () => {
    expect(refusal(['seccomp-listener'], 'namespaces', hostWith({ listener: notHeld('taken') }))).toMatchObject({
      code: 'host-cannot-hold',
      params: { mechanism: 'seccomp-listener', problem: 'somewhere: taken' },
    })
  })

  it('cgroup is refused only if nothing is delegated', () => {
    expect(refusal(['cgroup'], 'landlock', hostWith())).toMatchObject({
      code: 'host-cannot-hold',
      params: { problem: 'somewhere: nothing is delegated' },
      fix: expect.stringContaining('cordon doctor') as string,
    })
    expect(
      refusal(['cgroup'], 'landlock', hostWith({ cgroup: { held: true, parent: path('/sys/fs/cgroup') } })),
    ).toBeUndefined()
  })

  it('broker is refused if no host is granted', () => {
    expect(refusal(['broker'], 'namespaces', hostWith())).toMatchObject({
      code: 'host-cannot-hold',
      fix: expect.stringContaining('do not require it') as string,
    })
    expect(refusal(['broker'], 'namespaces', hostWith(), { kind: 'hosts', entries: [] })).toBeUndefined()
    expect(
      refusal(['broker'], 'namespaces', hostWith({ listener: notHeld('taken') }), { kind: 'hosts', entries: [] }),
    ).toMatchObject({ code: 'host-cannot-hold' })
  })

  it('is refused with alternatives that would be accepted', () => {
    const host = hostWith({ namespaces: notHeld('EPERM'), listener: notHeld('taken') })
    const held =
      /as it is: (.+)$/.exec(refusal(['seccomp-listener'], 'landlock', host)?.fix ?? '')?.[1]?.split(', ') ?? []
    expect(held).toContain('landlock')
    expect(MECHANISMS.filter((name) => refusal([name], 'landlock', host) === undefined)).toEqual(held)
  })
})
