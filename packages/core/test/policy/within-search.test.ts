// Random pairs of policies, compared by isWithin and by trying everything of a small world.
// The suite tries the same pairs each time. CORDON_SEARCH_SECONDS=600 searches that long for a pair on which the two
// disagree.
import { isIP } from 'node:net'

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { CordonError } from '../../src/errors/index.js'
import { LIMIT_NAMES, beyond, describeWitness, isWithin, parsePolicy, resolvePolicy } from '../../src/policy/index.js'
import type { Boundary, SandboxedKind, ToolKind, ToolPolicy, Witness } from '../../src/policy/index.js'

import { policyValue } from './arbitrary-policy.js'
import {
  WAYS,
  attemptOf,
  canAccess,
  canStart,
  carried,
  dials,
  isLimitLarger,
  passes,
  variablesOf,
} from './brute-force.js'
import type { Attempt } from './brute-force.js'
import { PLACES } from './places.js'

const SECONDS = Number(process.env['CORDON_SEARCH_SECONDS'] ?? '0')
const search = (numRuns: number) =>
  SECONDS === 0
    ? { numRuns, seed: 1 }
    : {
        numRuns: 1_000_000_000,
        endOnFailure: true,
        interruptAfterTimeLimit: (SECONDS * 1000) / 2,
        markInterruptAsFailure: false,
      }
const TEST_TIMEOUT = 300_000 + SECONDS * 1000

const HOSTS = ['a.org', 'b.a.org', 'c.b.a.org', 'd.a.org', 'other.net', '10.1.2.3', '10.9.9.9', '11.0.0.1', 'fd00::1']
const PORTS = [443, 80, 22, 8080]
const TARGETS = ['/', '/a', '/a/b', '/b', '/A', '/a;x/b', '/a%2fb', '/%5c']
const USES: readonly Attempt['use'][] = [
  'stream',
  'direct',
  ...['GET', 'HEAD', 'OPTIONS', 'POST', 'DELETE'].flatMap((method) => TARGETS.map((target) => ({ method, target }))),
]
const ATTEMPTS: readonly Attempt[] = HOSTS.flatMap((host) =>
  PORTS.flatMap((port) => USES.map((use) => ({ host, port, use }))),
)
const ADDRESSES = ['93.184.216.34', '10.1.2.3', '10.1.9.9', '10.9.9.9', '127.0.0.1', '64:ff9b::a01:203', 'fd00::1']
const NAMES = ['a', 'b', 'ab', 'x.json', '.git', 'hooks', 'node_modules', 'package.json']
const FOLDERS = ['', '/d', '/home', '/home/ann', '/home/ann/project']
const PATHS = FOLDERS.flatMap((folder) => [
  folder === '' ? '/' : folder,
  ...NAMES.flatMap((name) => [
    `${folder}/${name}`,
    ...NAMES.map((inner) => `${folder}/${name}/${inner}`),
    `${folder}/${name}/b/a`,
  ]),
])
const PROGRAMS = ['git', 'sh', '/usr/bin/make', '/usr/bin/env', '/home/ann/project/build.sh']

/** Something of the small world that `a` allows and `b` does not. */
const findBeyond = async (a: Boundary, b: Boundary): Promise<string | undefined> => {
  for (const access of ['read', 'write'] as const) {
    const file = PATHS.find((text) => canAccess(a, access, text) && !canAccess(b, access, text))
    if (file !== undefined) return `${access} ${file}`
  }
  const program = PROGRAMS.find((name) => canStart(a, name) && !canStart(b, name))
  if (program !== undefined) return `start ${program}`
  const variables = variablesOf(b)
  const variable = [...variablesOf(a)].find((text) => !variables.has(text))
  if (variable !== undefined) return `variable ${variable}`
  const limit = LIMIT_NAMES.find((name) => isLimitLarger(a, b, name))
  if (limit !== undefined) return `limit ${limit}`
  for (const attempt of ATTEMPTS) {
    if (!passes(a, attempt)) continue
    if (!passes(b, attempt)) return JSON.stringify(attempt)
    const ofB = carried(b, attempt)
    const credential = carried(a, attempt).find((text) => !ofB.includes(text))
    if (credential !== undefined) return `${JSON.stringify(attempt)} with ${credential}`
  }
  for (const host of HOSTS) {
    for (const port of PORTS) {
      if (!USES.some((use) => passes(a, { host, port, use }))) continue
      for (const address of ADDRESSES)
        for (const way of WAYS)
          if ((await dials(a, { host, port }, address, way)) && !(await dials(b, { host, port }, address, way)))
            return `${host}:${port} at ${address}, ${way}`
    }
  }
  return undefined
}

/** Whether a witness is allowed by one policy and refused by the other. */
const isRight = async (witness: Witness, a: Boundary, b: Boundary): Promise<boolean> => {
  switch (witness.kind) {
    case 'file':
      return canAccess(a, witness.access, witness.path) && !canAccess(b, witness.access, witness.path)
    case 'exec':
      return canStart(a, witness.program) && !canStart(b, witness.program)
    case 'environment': {
      const { name, value } = witness.entry
      const text = `${name}=${value.kind === 'set' ? value.text : 'of the host'}`
      return variablesOf(a).has(text) && !variablesOf(b).has(text)
    }
    case 'limit':
      return isLimitLarger(a, b, witness.limit)
    case 'require':
      return b.require.includes(witness.mechanism) && !a.require.includes(witness.mechanism)
    case 'credential': {
      const ofB = carried(b, attemptOf(witness.request))
      return carried(a, attemptOf(witness.request)).some((text) => !ofB.includes(text))
    }
    case 'network': {
      const attempt = attemptOf(witness.request)
      if (passes(a, attempt) && !passes(b, attempt)) return true
      // A denied address is refused when it is dialled, also in the form for networks that have only IPv6.
      const { address = isAddress(attempt.host) ? attempt.host : undefined } = witness.request
      if (address === undefined) return false
      const differs = await Promise.all(
        WAYS.map(async (way) => (await dials(a, attempt, address, way)) && !(await dials(b, attempt, address, way))),
      )
      return passes(a, attempt) && differs.includes(true)
    }
    case 'confinement':
    case 'undecided':
      return false
  }
}

const isAddress = (host: string): boolean => isIP(host) !== 0

const parsed = (value: unknown): ToolPolicy | undefined => {
  try {
    return parsePolicy(value, 'test')
  } catch (error) {
    if (error instanceof CordonError) return undefined
    throw error
  }
}

const SECTIONS = [
  ...['filesystem', 'filesystem', 'network', 'network', 'credentials', 'exec', 'limits'],
  ...['environment', 'egress_class', 'presets', 'require'],
]

/** Pairs that share most sections: two policies drawn apart are hardly ever within each other. */
const pair = fc.tuple(policyValue, policyValue, fc.array(fc.constantFrom(...SECTIONS))).map(([a, other, changed]) => {
  const b = { ...a, ...Object.fromEntries(changed.map((key) => [key, other[key]])) }
  return [parsed(a), parsed(b)] as const
})

const kinds = fc.tuple(
  fc.constantFrom<SandboxedKind>('process', 'function'),
  fc.constantFrom<SandboxedKind>('process', 'function'),
)

describe('for any two policies', () => {
  it(
    'isWithin agrees with what cell and proxy allow, and each witness is right',
    async () => {
      const answers = { within: 0, beyond: 0 }
      await fc.assert(
        fc.asyncProperty(pair, kinds, async ([a, b], [kind, boundKind]) => {
          fc.pre(a !== undefined && b !== undefined)
          const [ofA, ofB] = [resolvePolicy(a, { ...PLACES, kind }), resolvePolicy(b, { ...PLACES, kind: boundKind })]
          const witnesses = beyond(a, b, { ...PLACES, kind, boundKind })
          expect(isWithin(a, b, { ...PLACES, kind, boundKind }).within).toBe(witnesses.length === 0)
          for (const witness of witnesses)
            expect([describeWitness(witness), await isRight(witness, ofA, ofB)]).toEqual([
              describeWitness(witness),
              true,
            ])
          answers[witnesses.length === 0 ? 'within' : 'beyond'] += 1
          if (witnesses.length === 0) expect(await findBeyond(ofA, ofB)).toBeUndefined()
        }),
        search(300),
      )
      expect(Math.min(answers.within, answers.beyond)).toBeGreaterThan(50)
      if (SECONDS > 0) process.stdout.write(`${JSON.stringify(answers)}\n`)
    },
    TEST_TIMEOUT,
  )

  it('a tool in a looser place than its bound is beyond it, and no other tool is so for that reason', () => {
    const looseness = (kind: ToolKind) => (['process', 'function'].includes(kind) ? 0 : kind === 'mcp' ? 1 : 2)
    const kind = fc.constantFrom<ToolKind>('process', 'function', 'mcp', 'in-process')
    fc.assert(
      fc.property(policyValue, kind, kind, (value, one, other) => {
        const policy = parsed(value)
        fc.pre(policy !== undefined)
        const found = beyond(policy, policy, { ...PLACES, kind: one, boundKind: other })
        expect(found.some((witness) => witness.kind === 'confinement')).toBe(looseness(one) > looseness(other))
      }),
    )
  })

  it(
    'a policy that is within another without places is so for any workspace and home',
    () => {
      let compared = 0
      // Not the root: a carve-out of the workspace would then reach the programs and libraries of the system.
      const place = fc.constantFrom('/d', '/d/a', '/home', '/home/ann', '/home/ann/a', '/home/ann/project', '/x/y')
      fc.assert(
        fc.property(pair, place, place, ([a, b], workspace, home) => {
          fc.pre(a !== undefined && b !== undefined)
          if (!isWithin(a, b).within) return
          compared += 1
          try {
            expect(isWithin(a, b, { workspace: workspace as never, home: home as never })).toEqual({ within: true })
          } catch (error) {
            // A pattern that leads above the root is refused before anything runs.
            if (!(error instanceof CordonError)) throw error
          }
        }),
        search(300),
      )
      expect(compared).toBeGreaterThan(50)
      if (SECONDS > 0) process.stdout.write(`${String(compared)} compared\n`)
    },
    TEST_TIMEOUT,
  )
})
