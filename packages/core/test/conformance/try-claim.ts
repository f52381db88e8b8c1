// Runs claims that are written as data.
import { accessSync, constants, lstatSync, readFileSync, readdirSync, readlinkSync } from 'node:fs'
import type { Stats } from 'node:fs'
import { dirname, resolve } from 'node:path'

import { expect } from 'vitest'

import type { CallResult } from '../../src/sandbox/index.js'
import { endingOf } from '../../../../test/ending.js'

import type { AccessClaim, Attempt, Claim, Ending, RunClaim } from './claim.js'
import type { CallOptions, Stage } from './stage.js'
import { textOf } from './stage.js'

export const tryClaim = async (claim: Claim, stage: Stage): Promise<void> => {
  if (claim.given !== undefined) stage.give(claim.given)
  if ('tell' in claim) await claim.tell(stage)
  else if ('run' in claim) await tryRun(claim, stage)
  else await tryAccess(claim, stage)
}

const optionsOf = ({ policy, cwd, stdin, hostEnvironment }: RunClaim | AccessClaim): CallOptions => ({
  ...(policy === undefined ? {} : { policy }),
  ...(cwd === undefined ? {} : { cwd }),
  ...(stdin === undefined ? {} : { stdin }),
  ...(hostEnvironment === undefined ? {} : { hostEnvironment }),
})

const tryRun = async (claim: RunClaim, stage: Stage): Promise<void> => {
  const { then } = claim
  if ('refused' in then) {
    const error = await stage.refusal(claim.run, optionsOf(claim))
    expect(error, error.message).toMatchObject({ code: then.refused })
    if (then.fix !== undefined) expect(error.fix).toContain(stage.at(then.fix))
  } else {
    const result = await stage.run(claim.run, optionsOf(claim))
    const { violations = [] } = then
    if (then.anyEnd !== true) expect(actualEnd(result, then), textOf(result.stderr)).toEqual(wantedEnd(then, stage))
    expect(result.violations).toHaveLength(violations.length)
    for (const [index, violation] of violations.entries()) {
      expect(result.violations[index]).toMatchObject(JSON.parse(stage.at(JSON.stringify(violation))) as object)
    }
  }
  for (const [path, content] of Object.entries(claim.leaves ?? {}))
    expect(contentAt(stage.at(path)), path).toBe(content)
}

const actualEnd = ({ stdout, stderr, ...result }: CallResult, then: Ending): object => ({
  ...(result.status === 'limit' ? { status: result.status, limit: result.limit } : endingOf(result)),
  ...(then.stdout === undefined ? {} : { stdout: textOf(stdout) }),
  ...(then.stderr === undefined ? {} : { stderr: textOf(stderr) }),
})

const wantedEnd = ({ exitCode, signal, limit, stdout, stderr }: Ending, stage: Stage): object => ({
  ...(limit !== undefined
    ? { status: 'limit', limit }
    : signal !== undefined
      ? { status: 'signaled', signal }
      : { status: 'exited', exitCode: exitCode ?? 0 }),
  ...(stdout === undefined ? {} : { stdout: stage.at(stdout) }),
  ...(stderr === undefined ? {} : { stderr: stage.at(stderr) }),
})

const contentAt = (path: string): string | null =>
  lstatSync(path, { throwIfNoEntry: false }) === undefined ? null : readFileSync(path, 'utf8')

// One call tries everything: a word and a path at a time, so that a path may contain anything.
// A device is told apart: containers cover a carved-out file with the null device.
const TRIER = `try() {
  case $1 in
    read) cat -- "$2" ;;
    list) ls -A -- "$2" ;;
    see) test -e "$2" || test -L "$2" ;;
    write) test -e "$2" && (printf w >> "$2") ;;
    create) test ! -e "$2" && (printf new > "$2") ;;
    mkdir) mkdir -- "$2" ;;
    remove) rm -- "$2" ;;
    rename) mv -T -- "$2" "$2.moved" ;;
    link) ln -- "$2" "$2.linked" ;;
    execute) "$2" ;;
  esac
}
while [ $# -gt 0 ]; do
  if ! try "$1" "$2" > /dev/null 2>&1; then echo cannot
  elif test -c "$2"; then echo can on a device
  else echo can
  fi
  shift 2
done`

/** What is refused is tried first, in a call of its own, and must leave no trace. */
const tryAccess = async (claim: AccessClaim, stage: Stage): Promise<void> => {
  for (const [answer, attempts] of [
    ['cannot', claim.cannot],
    ['can', claim.can],
  ] as const) {
    const tried = attempts.map(([verb, path]): Attempt => [verb, stage.at(path)])
    const before = tried.map(([, path]) => stateOf(path))
    const result = await stage.run(['/bin/sh', '-c', TRIER, 'sh', ...tried.flat()], optionsOf(claim))
    const answers = textOf(result.stdout).trimEnd().split('\n')
    // Only wrong answers, so that a failure shows each of them.
    const answered = tried.map((attempt, index) => [answers[index], ...attempt].join(' '))
    expect(answered.filter((_, index) => answers[index] !== answer)).toEqual([])
    for (const [index, [verb, path]] of tried.entries()) {
      if (answer === 'can' && CHANGES.has(verb))
        expect(stateOf(path), `${path} after ${verb}`).not.toEqual(before[index])
      else if (answer === 'cannot') expect(stateOf(path), `${path} after ${verb}`).toEqual(before[index])
    }
  }
}

const CHANGES: ReadonlySet<string> = new Set<Attempt[0]>(['write', 'create', 'mkdir', 'remove', 'rename'])

/** What a tool could change about an object, as the host sees it; what lies beside it under a derived name too. */
const stateOf = (path: string): readonly string[] => [path, `${path}.moved`, `${path}.linked`].map(describeObject)

const describeObject = (path: string): string => {
  const status = statusOf(path)
  if (status === undefined) return 'nothing'
  if (status.isSymbolicLink())
    return `link to ${readlinkSync(path)}, ${describeObject(resolve(dirname(path), readlinkSync(path)))}`
  if (isClosed(path)) return `something closed, of ${status.size} bytes, changed at ${status.ctimeMs}`
  if (status.isDirectory()) return `folder with ${readdirSync(path).join(', ')}`
  return `file with ${readFileSync(path, 'latin1')} and ${status.nlink} names`
}

/** Also to the host itself, where that is an ordinary user. */
const isClosed = (path: string): boolean => {
  try {
    accessSync(path, constants.R_OK)
    return false
  } catch {
    return true
  }
}

const statusOf = (path: string): Stats | undefined => {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined // too long a name
  }
}
