// Edits settings of agents in JSON with comments: adds the hook to a list of the file, or removes it. Everything else
// in the file stays as it is.
import { isDeepStrictEqual } from 'node:util'

import { fail, messageOf } from '../errors/index.js'
import { isMapping } from '../shapes/index.js'

import { parseJson, valueAt, withJsonValue } from '../settings/json-text.js'
import type { JsonPath } from '../settings/json-text.js'
import type { AgentSettings, Scope } from './agent.js'
import { isInstalledCommand } from './installed-command.js'

interface HookList {
  readonly agent: string
  /** The lists of the file that get an entry. */
  readonly lists: readonly JsonPath[]
  readonly entry: (command: string) => unknown
  /** Other values that the file must have, if it has none yet. */
  readonly also?: readonly AlsoSet[]
}

interface AlsoSet {
  readonly at: JsonPath
  readonly value: unknown
  /** Default: in every scope. */
  readonly scope?: Scope
  /** Whether it goes with the hook. */
  readonly isRemoved: boolean
}

export const hookList = ({
  agent,
  lists,
  entry,
  also = [],
}: HookList): Pick<AgentSettings, 'edit' | 'find' | 'isAsInstalled'> => {
  const find: AgentSettings['find'] = (text, path) => {
    if (text.trim() === '') return undefined
    const settings = read(text, path)
    const commands = lists.map((list) => {
      const [at] = placesOf(settings, list, path, agent)
      return at === undefined ? undefined : commandIn(valueAt(settings, [...list, at]), agent)
    })
    // One that is missing in one of its lists is not installed.
    return commands.includes(undefined) ? undefined : commands[0]
  }
  const isAsInstalled: AgentSettings['isAsInstalled'] = (text, path, command) => {
    const settings = read(text, path)
    return lists.every((list) =>
      placesOf(settings, list, path, agent).every((at) =>
        isDeepStrictEqual(valueAt(settings, [...list, at]), entry(command)),
      ),
    )
  }
  const edit: AgentSettings['edit'] = (given, path, change) => {
    let text = given.trim() === '' ? '{}\n' : given
    const now = (at: JsonPath): unknown => valueAt(read(text, path), at)
    const put = (at: JsonPath, value: unknown, isArrayInsertion = false): void => {
      text = withJsonValue(text, at, value, { isArrayInsertion })
    }
    /** Lists and objects that only the hook needed. */
    const removeEmpty = (list: JsonPath): void => {
      for (let at = list; at.length > 0 && isEmpty(now(at)); at = at.slice(0, -1)) put(at, undefined)
    }
    const ofScope = also.filter(({ scope = change.scope }) => scope === change.scope)
    // Read before anything is changed, so that a file that cannot be read stays as it is.
    const before = read(text, path)
    if (change.kind === 'install')
      for (const { at, value } of ofScope) if (valueAt(before, at) === undefined) put(at, value)
    for (const list of lists) {
      const places = placesOf(read(text, path), list, path, agent)
      for (const at of places.toReversed()) put([...list, at], undefined)
      if (change.kind === 'install') {
        // First in the list: to remove the last entry also removes a comment behind the entry before it.
        put([...list, places[0] ?? 0], entry(change.command), true)
      } else if (places.length > 0) {
        removeEmpty(list)
        for (const { at, value, isRemoved } of ofScope)
          if (isRemoved && now(at) === value) {
            put(at, undefined)
            removeEmpty(at.slice(0, -1))
          }
      }
    }
    return text
  }
  return { edit, find, isAsInstalled }
}

const isEmpty = (value: unknown): boolean =>
  (isMapping(value) || Array.isArray(value)) && Object.keys(value).length === 0

const FIX = 'correct the file; Cordon changes no settings that it cannot read'

const read = (text: string, path: string): unknown => {
  try {
    const value = parseJson(text)
    if (isMapping(value)) return value
    throw new Error('it is not an object')
  } catch (error) {
    throw fail('file-syntax', { source: path, problem: messageOf(error), form: 'JSON', fix: FIX }, error)
  }
}

/** Where the entries of this hook are in a list. */
const placesOf = (settings: unknown, list: JsonPath, path: string, agent: string): readonly number[] => {
  for (let length = 1; length <= list.length; length += 1) {
    const at = list.slice(0, length)
    const value = valueAt(settings, at)
    const isList = length === list.length
    if (value === undefined || (isList ? Array.isArray(value) : isMapping(value))) continue
    throw fail('file-syntax', {
      source: path,
      problem: `"${at.join('.')}" is not ${isList ? 'a list' : 'an object'}`,
      form: 'settings',
      fix: FIX,
    })
  }
  const entries = valueAt(settings, list)
  if (!Array.isArray(entries)) return []
  return entries.flatMap((each: unknown, at) => (commandIn(each, agent) === undefined ? [] : [at]))
}

/** An entry is a command, or a list of commands behind a matcher. */
const commandIn = (entry: unknown, agent: string): string | undefined => {
  if (!isMapping(entry)) return undefined
  const { command, hooks } = entry as { readonly command?: unknown; readonly hooks?: unknown }
  if (isInstalledCommand(command, agent)) return command
  return Array.isArray(hooks) && hooks.length === 1 ? commandIn(hooks[0], agent) : undefined
}
