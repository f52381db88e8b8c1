// `--policy`: the file that a word names, or the one that it was probably meant to name.
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

import { fail } from '../errors/index.js'
import { loadPolicyText, nearestKey } from '../policy/index.js'

import type { SourcedPolicy } from './combine-policies.js'
import { asWord } from './shell-word.js'

const ENDING = /\.(?:ya?ml|json)$/

/** A word with a slash or an ending is a file; any other is a name. */
export const loadPolicy = (word: string): SourcedPolicy => {
  if (!word.includes('/') && !ENDING.test(word)) throw unknownName(word)
  let text: string
  try {
    text = readFileSync(word, 'utf8')
  } catch (cause) {
    throw fail('file-unreadable', { path: word, problem: reasonOf(cause), fix: wayOut(word, cause) }, cause)
  }
  return { source: word, policy: loadPolicyText(text, word) }
}

/** `ENOENT: no such file or directory, open 'x'` without the part that the message has already. */
export const reasonOf = (cause: unknown): string => (cause instanceof Error ? cause.message.replace(/, \w+(?: '.*)?$/s, '') : String(cause))

const unknownName = (word: string) => {
  const meant = nearestFile('.', word)
  const fix = meant === undefined ? `name a file, such as --policy ./${word}.yaml` : `did you mean --policy ${asWord(`./${meant}`)}?`
  return fail('usage-error', { problem: `there is no policy named ${JSON.stringify(word)}: this version brings none along yet`, fix })
}

const wayOut = (word: string, cause: unknown): string => {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  if (code === 'EACCES') return `make it readable for this user: ls -l ${asWord(word)}`
  if (code === 'EISDIR') return 'name a file in it'
  const folder = dirname(word)
  if (!existsSync(folder)) return `there is no folder ${folder} here`
  const near = nearestFile(folder, basename(word))
  return near === undefined ? `files are looked for from the current directory, ${process.cwd()}` : `did you mean --policy ${asWord(`${word.startsWith('/') ? '' : './'}${join(folder, near)}`)}?`
}

const nearestFile = (folder: string, name: string): string | undefined => {
  const files = policyFiles(folder)
  const stem = nearestKey(name.replace(/\.\w+$/, ''), files.map((file) => file.replace(ENDING, '')))
  return files.find((file) => file.replace(ENDING, '') === stem)
}

const policyFiles = (folder: string): readonly string[] => {
  try {
    return readdirSync(folder).filter((name) => ENDING.test(name))
  } catch {
    return []
  }
}
