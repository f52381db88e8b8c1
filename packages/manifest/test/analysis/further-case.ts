// How the tools of another author are written down.
import type { Case } from './corpus.js'

/** `does`: what is right. */
export interface Missed extends Case {
  readonly says: readonly string[]
  readonly because: string
}

export const NOTES = '{ filesystem: { read: ["notes/**"] } }'
export const NOTHING = '{}'
export const FS = "import fs from 'node:fs'"
export const READ = "import { readFileSync } from 'node:fs'"
export const SHADOW = ['reads /etc/shadow']
export const LIB = "module: new URL('./lib.mjs', import.meta.url), export: 'made'"

export type Files = Readonly<Record<string, string>>

export const withRun = (
  claim: string,
  does: readonly string[],
  policy: string,
  before: string,
  run: string,
  files: Files = {},
): Case => ({ claim, does, policy, before, run, files })

export const withModule = (
  claim: string,
  does: readonly string[],
  policy: string,
  options: string,
  files: Files,
): Case => ({ claim, does, policy, options, files })

export const missed = (says: readonly string[], because: string, each: Case): Missed => ({ ...each, says, because })
