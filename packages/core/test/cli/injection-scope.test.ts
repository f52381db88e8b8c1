import fc from 'fast-check'
import { expect, test } from 'vitest'

import { combinePolicies } from 'cordon/commands'
import { CordonError } from '../../src/errors/index.js'
import {
  compileNetwork,
  coversHost,
  credentialIdsFor,
  parsePolicy,
  parseRequest,
  resolvePolicy,
  ROOT_PATH,
} from '../../src/policy/index.js'
import type { NetworkRequest, ToolPolicy } from '../../src/policy/index.js'

const host = fc.constantFrom('a.org', 'b.a.org', '*.a.org', 'a.org:8443')
const entry = fc.record({
  host,
  methods: fc.constantFrom(undefined, ['GET'], ['POST']),
  paths: fc.constantFrom(undefined, ['/v1/**'], ['/v2']),
  action: fc.constantFrom('allow', 'allow', 'allow', 'deny'),
})
const credential = fc.record({
  id: fc.constantFrom('t', 'u', 'v'),
  inject: fc.record({ host, header: fc.constantFrom('X-One', 'X-Two', 'X-Three') }),
})
const policy = fc.record({
  network: fc.array(entry, { minLength: 1, maxLength: 3 }),
  credentials: fc.array(credential, { maxLength: 2 }),
})

const requests: readonly NetworkRequest[] = ['GET', 'POST'].flatMap((method) =>
  ['a.org', 'b.a.org', 'c.b.a.org', 'a.org:8443', 'other.org'].flatMap((name) =>
    ['/v1/x', '/v2', '/'].map((path) => parseRequest(`${method} https://${name}${path}`, 'test').request),
  ),
)

const compiled = new WeakMap<ToolPolicy, ReturnType<typeof compileNetwork>>()

const allows = (each: ToolPolicy, request: NetworkRequest): boolean => {
  const known =
    compiled.get(each) ??
    compileNetwork(resolvePolicy(each, { workspace: ROOT_PATH, home: ROOT_PATH, kind: 'process' }))
  compiled.set(each, known)
  return known.answer(request).kind === 'allowed'
}

const orNothing = <Value>(work: () => Value): Value | undefined => {
  try {
    return work()
  } catch (error) {
    if (error instanceof CordonError) return undefined
    throw error
  }
}

test('combined policies inject a credential only into requests that its own policy allows, to its own hosts', () => {
  const seen = { composed: 0, injected: 0, widened: 0 }
  fc.assert(
    fc.property(fc.array(policy, { minLength: 2, maxLength: 3 }), (values) => {
      const parsed = values.map((value) => orNothing(() => parsePolicy(JSON.parse(JSON.stringify(value)), 'test')))
      if (parsed.includes(undefined)) return
      const policies = parsed.filter((each) => each !== undefined)
      const together = orNothing(() =>
        combinePolicies(
          policies.map((each, at) => ({ source: String(at), policy: each, whereIs: () => String(at) })),
          parsePolicy({}, 'typed'),
        ),
      )
      if (together === undefined) return
      seen.composed += 1
      for (const request of requests) {
        const injected = allows(together, request) ? credentialIdsFor(request, together) : []
        seen.injected += injected.length
        for (const id of injected) {
          const owner = policies.find(
            (each) =>
              allows(each, request) &&
              each.credentials.some(
                (own) =>
                  own.id === id &&
                  own.hosts.some(
                    ({ destination, port }) =>
                      coversHost(destination, request.host) &&
                      (port.kind === 'web' ? [80, 443] : [port.port]).includes(request.port),
                  ),
              ),
          )
          expect(owner).toBeDefined()
        }
        // What another policy opens at the same host is really there to be tempted by.
        if (allows(together, request) && together.credentials.some(({ id }) => !injected.includes(id)))
          seen.widened += 1
      }
    }),
    { numRuns: 2000 },
  )
  expect(Math.min(seen.composed, seen.injected, seen.widened)).toBeGreaterThan(50)
})
