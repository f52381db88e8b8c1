// Adds one rule to a rule file that people write too, or takes one out. Their lines, comments and blank lines stay as
// they are, and a change that another process makes at the same time is not lost.
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'

import { isMap, isScalar, isSeq, parseDocument } from 'yaml'

import { CordonError, fail, messageOf } from '../../errors/index.js'
import { loadRules } from '../../gate/index.js'
import type { Rule, RuleFileContext } from '../../gate/index.js'
import { realPathOf, realPlaceOf, replaceFile, takeLock } from '../../platform/index.js'

import { userRulesIn } from './read-rule-file.js'

export interface RuleToAdd {
  /** The lines of the item, beginning with `- ` or with comments. */
  readonly lines: readonly string[]
  /** The rule in one line. If Cordon cannot write it, the error shows it to the user. */
  readonly text: string
  readonly id: string
}

export const addRule = async (file: string, rule: RuleToAdd, context: RuleFileContext): Promise<void> => {
  const add: Change = {
    edit: (text) => withRule(text, rule.lines),
    // The result must be the old rules and this one. A file of an unexpected form is left alone.
    isExpected: (before, after) => {
      const [added, ...others] = after.filter(({ id }) => id === rule.id)
      return added?.effect === 'allow' && others.length === 0 && after.length === before.length + 1
    },
  }
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    await changeRules(file, add, context)
  } catch (cause) {
    if (cause instanceof CordonError && cause.code !== 'policy-syntax') throw cause
    throw fail('rule-not-added', { path: file, problem: messageOf(cause), rule: rule.text }, cause)
  }
}

export const removeRule = async (file: string, id: string, context: RuleFileContext): Promise<void> => {
  try {
    await changeRules(
      file,
      {
        edit: (text) => withoutRule(text, id),
        isExpected: (before, after) =>
          after.length === before.length - 1 && JSON.stringify(idsOf(after)) === JSON.stringify(idsOf(before, id)),
      },
      context,
    )
  } catch (cause) {
    if (cause instanceof CordonError && cause.code !== 'policy-syntax') throw cause
    throw fail('rule-not-removed', { path: file, problem: messageOf(cause), rule: id }, cause)
  }
}

const idsOf = (rules: readonly Rule[], without?: string): readonly string[] =>
  rules.map(({ id }) => id).filter((id) => id !== without)

interface Change {
  readonly edit: (text: string) => string
  readonly isExpected: (before: readonly Rule[], after: readonly Rule[]) => boolean
}

const changeRules = async (file: string, change: Change, context: RuleFileContext): Promise<void> => {
  // If the file is a link, its target is replaced.
  const path = realPathOf(file) ?? realPlaceOf(file)
  const release = await takeLock(`${path}.lock`)
  try {
    for (let tries = 0; tries < 5; tries += 1) if (replace(path, change, context)) return
    throw new Error('somebody else keeps changing it')
  } finally {
    release()
  }
}

/** False when somebody changed the file in the meantime. */
const replace = (path: string, { edit, isExpected }: Change, context: RuleFileContext): boolean => {
  const before = userRulesIn(path)
  const after = edit(before ?? '')
  if (!isExpected(loadRules(before ?? '', path, context).rules, loadRules(after, path, context).rules))
    throw new Error('its form is one that cannot be changed')
  // Editors do not take the lock.
  return replaceFile(path, after, { mode: { ofNew: 0o600 }, onlyIf: () => userRulesIn(path) === before })
}

/** The text with the item at the end of its rules. */
export const withRule = (text: string, lines: readonly string[]): string => {
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

/** The text without the item that has this id, and without the comment that Cordon wrote above it. */
export const withoutRule = (text: string, id: string): string => {
  const { contents } = parseDocument(text)
  const pair = isMap(contents) ? contents.items.find(({ key }) => isScalar(key) && key.value === 'rules') : undefined
  if (pair === undefined || !isSeq(pair.value) || pair.value.flow === true || !isScalar(pair.key))
    throw new Error('its rules are not a list with one rule per line')
  const { items } = pair.value
  const item = items.find((each) => isMap(each) && (each.get('id') as unknown) === id)
  if (!isMap(item)) throw new Error(`it has no rule ${id}`)
  const lineAt = (at: number): number => text.lastIndexOf('\n', at - 1) + 1
  const from = lineAt(items.length === 1 ? pair.key.range[0] : item.range[0])
  const above = lineAt(from - 1)
  const start = text.slice(above, from).trim().startsWith(WRITTEN_ABOVE) ? above : from
  const end = text.indexOf('\n', Math.max(0, item.range[1] - 1))
  return `${text.slice(0, start)}${end === -1 ? '' : text.slice(end + 1)}`
}

/** The comment above a rule that Cordon wrote. */
export const WRITTEN_ABOVE = '# written by cordon'
