// Errors for touched protected names. Such a run does not count as a success.
import { basename } from 'node:path'

import { fail } from '../../errors/index.js'
import type { CordonError } from '../../errors/index.js'
import { shellWord } from '../../platform/index.js'
import { PROTECTED_NAMES, escapeGlob, protectionOf } from '../../policy/index.js'
import type { AbsolutePath, Boundary, Protection } from '../../policy/index.js'
import { describeOwnFile, ownFileAt } from '../../runtime/own-files/index.js'
import type { OwnFile } from '../../runtime/own-files/index.js'
import { isIntrusion } from '../../sandbox/index.js'
import type { CallResult, Violation } from '../../sandbox/index.js'

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

const touched = (what: string, fix: string): CordonError => fail('protected-name-touched', { what, fix })

const unsealed = (path: string): CordonError =>
  touched(
    `${path}, which the command may not change, was replaced, removed or linked by another program while the ` +
      'command ran, so Cordon killed the command',
    'look at it before you use the folder, then run the command again',
  )

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
      ? `${to}, ` +
        (protection === undefined
          ? 'remove the carve-out'
          : `name it exactly: --write ${shellWord(escapeGlob(protection.path))}`)
      : describeOwnFile(path, own, 'command')
  switch (violation.deed) {
    case 'set-aside':
      if (protection === undefined && own === undefined && isProtectedName(path))
        return touched(
          `Cordon renamed ${path} to ${violation.aside} for another call in this folder, which may not create it; ` +
            'this command may, and did or might have',
          `if it is yours: ${violation.restore}; run the calls one after the other`,
        )
      return touched(
        `the command, or another program at the same time, created ${what}; Cordon renamed it to ${violation.aside}`,
        `look at it; if it is yours: ${violation.restore}; ${permit('to let the command create it')}`,
      )
    case 'left':
      return touched(
        `the command created ${what}; Cordon could not rename it, and it is still there`,
        `remove it before anything uses it; ${permit('to permit it')}`,
      )
    case 'shared':
      return touched(
        `the command, or another call that may create it, created ${what}; Cordon left it, because it may belong ` +
          'to the other call',
        `look at it before anything uses it; ${permit('to permit it')}`,
      )
    case 'put-back':
      return touched(`the command removed ${what}; Cordon restored it`, permit('to permit it'))
    case 'separated':
      return touched(
        `the command made a hard link to ${what}; Cordon replaced it by a separate copy`,
        'look at it before you use it',
      )
    case 'unusable':
      return touched(
        `the command, or another program while it ran, left ${path} in a state that no other call can use: ` +
          violation.problem,
        'fix that before the next call',
      )
    case 'unseen':
      return touched(
        `the write root ${path} grew too large to check, so it may contain protected names`,
        'check it before you use it; grant smaller folders',
      )
  }
}

const isProtectedName = (path: string): boolean => PROTECTED_NAMES.some(({ name }) => path.endsWith(`/${name}`))

/** Names that are protected only as files: a file `.git` points git to another repository. */
const asFile = (path: string): Protection | undefined => {
  const entry = PROTECTED_NAMES.find(({ object, name }) => object === 'file' && name === basename(path))
  return entry === undefined ? undefined : { entry, path: path as AbsolutePath }
}
