// Adds one rule to a rule file that people write too. Their lines, comments and blank lines stay as they are, and a
// change that another process makes at the same time is not lost.
import {
  closeSync,
  constants,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  realpathSync,
  renameSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { randomBytes } from 'node:crypto'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'

import type * as Yaml from 'yaml'

import { CordonError, codeOf, fail, messageOf } from '../../errors/index.js'
import { loadRules } from '../../gate/index.js'
import type { RuleFileContext } from '../../gate/index.js'

import { readRuleFile, trustOf } from './read-rule-file.js'
import { takeLock } from './take-lock.js'

export interface RuleToAdd {
  /** The lines of the item, beginning with `- ` or with comments. */
  readonly lines: readonly string[]
  /** The rule in one line. If Cordon cannot write it, the error shows it to the user. */
  readonly text: string
  readonly id: string
}

const require = createRequire(import.meta.url)

export const addRule = async (file: string, rule: RuleToAdd, context: RuleFileContext): Promise<void> => {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    // If the file is a link, its target is replaced.
    const path = realPathOf(file)
    const release = await takeLock(`${path}.lock`)
    try {
      for (let tries = 0; tries < 5; tries += 1) if (replace(path, rule, context)) return
      throw new Error('somebody else keeps changing it')
    } finally {
      release()
    }
  } catch (cause) {
    if (cause instanceof CordonError && cause.code !== 'policy-syntax') throw cause
    throw fail('rule-not-added', { path: file, problem: messageOf(cause), rule: rule.text }, cause)
  }
}

const realPathOf = (file: string): string => {
  try {
    return realpathSync(file)
  } catch {
    return join(realpathSync(dirname(file)), basename(file))
  }
}

/** False when somebody changed the file in the meantime. */
const replace = (path: string, rule: RuleToAdd, context: RuleFileContext): boolean => {
  const before = contentOf(path)
  const after = withRule(before ?? '', rule.lines)
  // The result must be the old rules and this one. A file of an unexpected form is left alone.
  const known = loadRules(before ?? '', path, context).rules
  const rules = loadRules(after, path, context).rules
  const [added, ...others] = rules.filter(({ id }) => id === rule.id)
  if (added?.effect !== 'allow' || others.length > 0 || rules.length !== known.length + 1)
    throw new Error('its form is one that cannot be added to')
  const temporary = `${path}.${randomBytes(6).toString('hex')}`
  const mode = before === undefined ? 0o600 : statSync(path).mode & 0o777
  const descriptor = openSync(temporary, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, mode)
  try {
    try {
      writeFileSync(descriptor, after)
      fsyncSync(descriptor)
    } finally {
      closeSync(descriptor)
    }
    // Editors do not take the lock.
    if (contentOf(path) !== before) return false
    if (before === undefined) linkSync(temporary, path)
    else renameSync(temporary, path)
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  } finally {
    remove(temporary)
  }
}

const contentOf = (path: string): string | undefined => {
  try {
    return readRuleFile(path, trustOf('user', process.geteuid?.() ?? 0, 0))
  } catch (error) {
    if (error instanceof CordonError && error.code === 'rules-unreadable' && codeOf(error.cause) === 'ENOENT')
      return undefined
    throw error
  }
}

/** The text with the item at the end of its rules. */
export const withRule = (text: string, lines: readonly string[]): string => {
  // Loaded late: few programs add a rule.
  const { isMap, isScalar, isSeq, parseDocument } = require('yaml') as typeof Yaml
  const document = parseDocument(text)
  const { contents } = document
  const indented = (indent: string) => lines.map((line) => `${indent}${line}\n`).join('')
  const ended = text === '' || text.endsWith('\n') ? text : `${text}\n`
  if (contents !== null && (!isMap(contents) || contents.flow === true))
    throw new Error('it is not a mapping with one key per line')
  const pair = contents?.items.find(({ key }) => isScalar(key) && key.value === 'rules')
  if (pair === undefined) return `${ended}rules:\n${indented('  ')}`
  const { value: rules } = pair
  if (!isSeq(rules) || rules.flow === true || rules.items.length === 0)
    throw new Error('its rules are not a list with one rule per line')
  const [start, end] = rules.range
  const indent = text.slice(text.lastIndexOf('\n', start - 1) + 1, start)
  if (indent.trim() !== '') throw new Error('its rules begin on the line of their key')
  // Behind the last line of the last rule, and before comments and keys that follow.
  const lineEnd = text.indexOf('\n', Math.max(0, end - 1))
  const at = lineEnd === -1 ? ended.length : lineEnd + 1
  return `${ended.slice(0, at)}${indented(indent)}${ended.slice(at)}`
}

const remove = (path: string): void => {
  try {
    unlinkSync(path)
  } catch {
    // Renamed, or removed by another process.
  }
}
