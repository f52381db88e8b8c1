// Edits settings of agents in JSON with comments: adds the hook to a list of the file, or removes it. Everything else
// in the file stays as it is.
import { applyEdits, findNodeAtLocation, getNodeValue, modify, parseTree } from 'jsonc-parser'
import type { JSONPath, Node, ParseError } from 'jsonc-parser'

import { fail } from '../errors/index.js'
import { isInstalledCommand } from './command/index.js'
import { isMapping } from '../shapes/index.js'

import { jsonProblem, lineAt } from '../settings/json-problem.js'
import type { AgentSettings, Scope } from './agent.js'

interface HookList {
  readonly agent: string
  /** The lists of the file that get an entry. */
  readonly lists: readonly JSONPath[]
  readonly entry: (command: string) => unknown
  /** Other values that the file must have, if it has none yet. */
  readonly also?: readonly AlsoSet[]
}

interface AlsoSet {
  readonly at: JSONPath
  readonly value: unknown
  /** Default: in every scope. */
  readonly scope?: Scope
  /** Whether it goes with the hook. */
  readonly isRemoved: boolean
}

const FORMAT = { formattingOptions: { insertSpaces: true, tabSize: 2 } }

export const hookList = ({ agent, lists, entry, also = [] }: HookList): Pick<AgentSettings, 'edit' | 'find'> => ({
  edit: (given, path, change) => {
    let text = given.trim() === '' ? '{}\n' : given
    // Read before anything is changed, so that a file that cannot be read stays as it is.
    const put = (at: JSONPath, value: unknown, options = {}): void => {
      read(text, path)
      text = applyEdits(text, modify(text, at, value, { ...FORMAT, ...options }))
    }
    const tree = read(text, path)
    if (change.kind === 'install')
      for (const { at, value, scope = change.scope } of also)
        if (scope === change.scope && findNodeAtLocation(tree, [...at]) === undefined) put(at, value)
    for (const list of lists) {
      const found = placesOf(read(text, path), list, path, agent)
      for (const at of found.toReversed()) put([...list, at], undefined)
      if (change.kind === 'install') {
        // First in the list: to remove the last entry also removes a comment behind the entry before it.
        put([...list, found[0] ?? 0], entry(change.command), { isArrayInsertion: true })
      } else if (found.length > 0) {
        removeEmpty(list)
        for (const { at, value, scope = change.scope, isRemoved } of also)
          if (isRemoved && scope === change.scope && valueAt(read(text, path), at) === value) {
            put(at, undefined)
            removeEmpty(at.slice(0, -1))
          }
      }
    }
    return text

    /** Lists and objects that only the hook needed. */
    function removeEmpty(list: JSONPath): void {
      for (let at = list; at.length > 0; at = at.slice(0, -1)) {
        const node = findNodeAtLocation(read(text, path), [...at])
        if (node === undefined || (node.children?.length ?? 1) > 0) return
        put(at, undefined)
      }
    }
  },
  find: (text, path) => {
    if (text.trim() === '') return undefined
    const tree = read(text, path)
    const commands = lists.map((list) => {
      const [at] = placesOf(tree, list, path, agent)
      return at === undefined ? undefined : commandIn(valueAt(tree, [...list, at]), agent)
    })
    // One that is missing in one of its lists is not installed.
    return commands.includes(undefined) ? undefined : commands[0]
  },
})

const read = (text: string, path: string): Node => {
  const errors: ParseError[] = []
  const tree = parseTree(text, errors, { allowTrailingComma: true })
  const [first] = errors
  if (tree !== undefined && first === undefined && tree.type === 'object') return tree
  const line = lineAt(text, first?.offset ?? 0)
  throw fail('file-syntax', {
    source: `${path}:${String(line)}`,
    problem: first === undefined ? 'it is not an object' : jsonProblem(first),
    form: 'JSON',
    fix: 'correct the file; Cordon changes no settings that it cannot read',
  })
}

const valueAt = (tree: Node, at: JSONPath): unknown => {
  const node = findNodeAtLocation(tree, at)
  return node === undefined ? undefined : (getNodeValue(node) as unknown)
}

/** Where the entries of this hook are in a list. */
const placesOf = (tree: Node, list: JSONPath, path: string, agent: string): readonly number[] => {
  for (let length = 1; length <= list.length; length += 1) {
    const at = list.slice(0, length)
    const node = findNodeAtLocation(tree, at)
    const expected = length === list.length ? 'array' : 'object'
    if (node === undefined || node.type === expected) continue
    throw fail('file-syntax', {
      source: path,
      problem: `"${at.join('.')}" is not ${expected === 'array' ? 'a list' : 'an object'}`,
      form: 'settings',
      fix: 'correct the file; Cordon changes no settings that it cannot read',
    })
  }
  const entries = valueAt(tree, list)
  if (!Array.isArray(entries)) return []
  return entries.flatMap((entry: unknown, at) => (commandIn(entry, agent) === undefined ? [] : [at]))
}

/** An entry is a command, or a list of commands behind a matcher. */
const commandIn = (entry: unknown, agent: string): string | undefined => {
  if (!isMapping(entry)) return undefined
  const { command, hooks } = entry as { readonly command?: unknown; readonly hooks?: unknown }
  if (isInstalledCommand(command, agent)) return command
  return Array.isArray(hooks) && hooks.length === 1 ? commandIn(hooks[0], agent) : undefined
}
