// Runs the visitor in a place and returns what it found.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'

import { beforeAll, describe, expect, test } from 'vitest'

import type { Form, HostFacts, SandboxProfile, Violation } from '../../src/sandbox/index.js'
import { expectRefused, parseRoutes } from '../attacks/outcomes.js'
import type { Exceptions } from '../attacks/outcomes.js'

import { needs } from '../../../../test/requirement.js'

import { PROGRAMS, obstacleTo } from './place.js'
import type { Place } from './place.js'

export interface VisitorCall {
  readonly policy?: unknown
  readonly argv: readonly string[]
  readonly cwd?: string
  readonly form?: Form
  readonly observe?: 'changes' | 'reads' | 'everything'
  readonly stdin?: string
}

export interface Ran {
  readonly kind: 'ran'
  readonly status: 'exited' | 'signaled' | 'limit'
  readonly exitCode?: number
  readonly signal?: number
  readonly limit?: string
  readonly stdout: string
  readonly stderr: string
  readonly violations: readonly Violation[]
  readonly profile: SandboxProfile
}

export interface Refused {
  readonly kind: 'refused'
  readonly code: string
  readonly message: string
  readonly fix?: string
  readonly params: Readonly<Record<string, string | number>>
}

export interface Visit {
  readonly opened: { readonly kind: 'open' } | Refused
  readonly host: HostFacts
  readonly calls: Readonly<Record<string, Ran | Refused>>
}

export interface VisitRequest {
  readonly calls?: Readonly<Record<string, VisitorCall>>
  readonly open?: { readonly form?: Form }
  /** `pinned` (the default): host.test leads to this machine, and nothing is looked up. */
  readonly names?: 'pinned' | 'looked-up'
  /** Also makes one call through a warm pool, under the name `warm`. */
  readonly warm?: boolean
  /** Runs while the visitor, and all that it may have left behind, is still there. */
  readonly whileThere?: () => Promise<void>
}

export const visit = async (place: Place, { whileThere, ...request }: VisitRequest): Promise<Visit> => {
  const [program = '', ...args] = place.enter([process.execPath, join(PROGRAMS, 'visitor.mjs')])
  const visitor = spawn(program, args, {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { PATH: '/usr/local/bin:/usr/bin:/bin' },
  })
  const patience = setTimeout(() => visitor.kill('SIGKILL'), 150_000)
  const complaints = text(visitor.stderr)
  let answer: string | undefined
  try {
    visitor.stdin.on('error', () => undefined)
    visitor.stdin.write(`${JSON.stringify(request)}\n`)
    for await (const line of createInterface({ input: visitor.stdout })) {
      if (!line.startsWith('visitor: ')) continue
      answer = line.slice('visitor: '.length)
      await whileThere?.()
      visitor.stdin.end()
    }
  } finally {
    visitor.stdin.end()
    clearTimeout(patience)
  }
  if (answer === undefined) throw new Error(`no word from the visitor to ${place.title}: ${await complaints}`)
  return JSON.parse(answer) as Visit
}

/** Visits a place once, and makes claims about what was found; where it cannot be entered, one test says why. */
export const describePlace = (
  place: Place,
  request: () => VisitRequest | Promise<VisitRequest>,
  claims: (found: () => Visit) => void,
): void => {
  describe(`in ${place.title}`, () => {
    const obstacle = obstacleTo(place)
    if (obstacle !== undefined) {
      test('the place can be entered', (context) => {
        needs(context, false, obstacle)
      })
      return
    }
    let found: Visit | undefined
    beforeAll(async () => {
      found = await visit(place, await request())
    })
    claims(() => {
      if (found === undefined) throw new Error('the visit did not come to its end')
      return found
    })
  })
}

export const ran = ({ calls }: Visit, name: string): Ran => {
  const call = calls[name]
  if (call?.kind !== 'ran') throw new Error(`${name} did not run: ${JSON.stringify(call)}`)
  return call
}

/** Refused before it ran, with this code and a way out. */
export const expectNotRun = ({ calls }: Visit, name: string, code: string): Refused => {
  const call = calls[name]
  expect(call, name).toMatchObject({ kind: 'refused', code, fix: expect.stringMatching(/\w/) as string })
  return call as Refused
}

/** The attack ran to its end, every route of it was refused, and no secret came out. */
export const expectHeld = (found: Visit, name: string, except: Exceptions = {}): void => {
  const { status, exitCode, stdout, stderr } = ran(found, name)
  expect({ name, status, exitCode, stderr }).toEqual({ name, status: 'exited', exitCode: 0, stderr: '' })
  expectRefused(parseRoutes(stdout), except)
  expect(stdout, 'a secret in the output').not.toContain('SECRET')
}
