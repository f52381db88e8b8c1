import { rmSync } from 'node:fs'
import { inspect } from 'node:util'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { needs } from '../../../../test/requirement.js'

import type { Backend, Candidate } from './backend.js'
import type { Area } from './claim.js'
import { newFolder, stageAt } from './stage.js'
import { tryClaim } from './try-claim.js'

/** What became of each claim: it holds, or the reason why it does not hold here. */
export type Findings = Map<string, { readonly kind: 'held' } | { readonly kind: 'gap'; readonly reason: string }>

/**
 * Runs every claim against a backend. A gap is proved too: its claim must fail in the way that the gap says. So no
 * outdated reason stays in the documentation, and no other defect hides behind a gap.
 */
export const describeConformance = (candidate: Candidate, areas: readonly Area[]): Findings => {
  const findings: Findings = new Map()
  const { name, missing, gaps } = candidate
  describe(`conformance of ${name}`, () => {
    if (missing !== undefined) {
      test('is supported on this host', (context) => {
        needs(context, false, `${name}: ${missing}`)
      })
      return
    }
    let backend: Backend
    beforeAll(async () => {
      backend = await candidate.open()
    })
    afterAll(() => backend.close())

    for (const { title, claims } of areas) {
      describe(title, () => {
        for (const claim of claims) {
          const gap = gaps[claim.claim]
          const attempt = async () => {
            const root = newFolder()
            try {
              await tryClaim(claim, stageAt(root, backend, candidate.open))
            } finally {
              rmSync(root, { recursive: true, force: true })
            }
          }
          if (gap === undefined) {
            test(claim.claim, async () => {
              await attempt()
              findings.set(claim.claim, { kind: 'held' })
            })
          } else {
            test(`gap: ${claim.claim} (${gap.reason})`, async () => {
              const failure = await attempt().then(() => 'none: the claim holds', describeFailure)
              expect(failure, 'the failure of this gap').toMatch(gap.failure)
              findings.set(claim.claim, { kind: 'gap', reason: gap.reason })
            })
          }
        }
      })
    }

    test('every documented gap is about a claim', () => {
      const known = new Set(areas.flatMap(({ claims }) => claims.map(({ claim }) => claim)))
      expect(Object.keys(gaps).filter((claim) => !known.has(claim))).toEqual([])
    })
  })
  return findings
}

/** The message, and the value that it shortens: what an assertion saw, or how a call ended that was not refused. */
const describeFailure = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  const seen = 'actual' in error ? error.actual : error.cause
  return `${error.message}\n${inspect(seen, { breakLength: Infinity })}`
}
