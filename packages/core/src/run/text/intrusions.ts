// Errors for touched protected names. Such a run does not count as a success.
import { basename } from 'node:path'

import { fail } from '../../errors/index.js'
import type { CordonError } from '../../errors/index.js'
import { PROTECTED_NAMES, escapeGlob, protectionOf } from '../../policy/index.js'
import type { AbsolutePath, Boundary, Protection } from '../../policy/index.js'
import { describeOwnFile, ownFileAt } from '../../runtime/own-files/index.js'
import type { OwnFile } from '../../runtime/own-files/index.js'
import { isIntrusion } from '../../sandbox/index.js'
import type { CallResult, Violation } from '../../sandbox/index.js'

import { asWord } from '../../line/text/shell-word.js'

type ProtectedTouched = Extract<Violation, { kind: 'protected' }>

/** The first one is the error of the run. */
export const intrusionErrors = (
  { violations }: CallResult,
  { write }: Boundary,
  ownFiles: readonly OwnFile[],
): readonly CordonError[] =>
  violations.filter(isIntrusion).map((violation) => {
    switch (violation.kind) {
      case 'unsealed':
        return unsealed(violation.path)
      case 'protected':
        return errorFor(
          violation,
          protectionOf(write, violation.path as AbsolutePath) ?? asFile(violation.path),
          ownFiles,
        )
    }
  })

const unsealed = (path: string): CordonError =>
  fail('protected-name-touched', {
    what:
      `${path}, which the command may not change, was replaced, removed or linked by another program while the ` +
      'command ran, so Cordon killed the command',
    fix: 'look at it before you use the folder, then run the command again',
  })

const errorFor = (
  violation: ProtectedTouched,
  protection: Protection | undefined,
  ownFiles: readonly OwnFile[],
): CordonError => {
  const { path } = violation
  const own = ownFileAt(path, 'write', ownFiles)
  const because = own === undefined ? protection?.entry.because : `it belongs to Cordon itself: ${own.what}`
  const what = `${path}, which is protected (${because ?? 'the policy carves it out, or a git configuration points to it'})`
  // A grant of an own file would be refused.
  const permit = (to: string) =>
    own === undefined
      ? `${to}, ${protection === undefined ? 'remove the carve-out' : `name it exactly: --write ${asWord(escapeGlob(protection.path))}`}`
      : describeOwnFile(path, own, 'command')
  switch (violation.deed) {
    case 'set-aside':
      if (protection === undefined && own === undefined && isProtectedName(path))
        return fail('protected-name-touched', {
          what:
            `Cordon renamed ${path} to ${violation.aside} for another call in this folder, which may not create it; ` +
            'this command may, and did or might have',
          fix: `if it is yours: ${violation.restore}; run the calls one after the other`,
        })
      return fail('protected-name-touched', {
        what:
          `the command, or another program at the same time, created ${what}; Cordon renamed it to ` + violation.aside,
        fix: `look at it; if it is yours: ${violation.restore}; ${permit('to let the command create it')}`,
      })
    case 'left':
      return fail('protected-name-touched', {
        what: `the command created ${what}; Cordon could not rename it, and it is still there`,
        fix: `remove it before anything uses it; ${permit('to permit it')}`,
      })
    case 'shared':
      return fail('protected-name-touched', {
        what:
          `the command, or another call that may create it, created ${what}; Cordon left it, because it may belong ` +
          'to the other call',
        fix: `look at it before anything uses it; ${permit('to permit it')}`,
      })
    case 'put-back':
      return fail('protected-name-touched', {
        what: `the command removed ${what}; Cordon restored it`,
        fix: permit('to permit it'),
      })
    case 'separated':
      return fail('protected-name-touched', {
        what: `the command made a hard link to ${what}; Cordon replaced it by a separate copy`,
        fix: 'look at it before you use it',
      })
    case 'unusable':
      return fail('protected-name-touched', {
        what:
          `the command, or another program while it ran, left ${path} in a state that no other call can use: ` +
          violation.problem,
        fix: 'fix that before the next call',
      })
    case 'unseen':
      return fail('protected-name-touched', {
        what: `the write root ${path} grew too large to check, so it may contain protected names`,
        fix: 'check it before you use it; grant smaller folders',
      })
  }
}

const isProtectedName = (path: string): boolean => PROTECTED_NAMES.some(({ name }) => path.endsWith(`/${name}`))

/** Names that are protected only as files: a file `.git` points git to another repository. */
const asFile = (path: string): Protection | undefined => {
  const entry = PROTECTED_NAMES.find(({ object, name }) => object === 'file' && name === basename(path))
  return entry === undefined ? undefined : { entry, path: path as AbsolutePath }
}
