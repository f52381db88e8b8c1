// The smallest change of a written policy that adds a grant.
import ts from 'typescript'

import { bare } from './declarations.js'
import type { Grant } from './judge.js'
import type { ToolSite } from './tool-site.js'
import { propertyName } from './values.js'

export interface TextEdit {
  readonly at: number
  readonly text: string
}

/** Undefined if the policy is not written out in the call, or if the grant cannot be named. */
export const grantEdit = ({ options, policy }: ToolSite, { section, entry }: Grant): TextEdit | undefined => {
  if (entry === undefined) return undefined
  const keys = keysOf(section)
  const item = quoted(entry)
  const written = policy === undefined ? undefined : bare(policy)
  if (written !== undefined)
    return written.getSourceFile() === options.getSourceFile() ? editIn(written, keys, item) : undefined
  return editIn(bare(options), ['policy', ...keys], item)
}

/** As a policy writes it: `filesystem: { read: ['x'] }`. */
export const grantText = ({ section }: Grant, entry: string): string => written(keysOf(section), quoted(entry))

const keysOf = (section: Grant['section']): readonly string[] =>
  section === 'read' || section === 'write' ? ['filesystem', section] : [section]

const editIn = (value: ts.Expression, keys: readonly string[], item: string): TextEdit | undefined => {
  const [key, ...deeper] = keys
  if (key === undefined) return ts.isArrayLiteralExpression(value) ? append(value, value.elements, item) : undefined
  if (!ts.isObjectLiteralExpression(value)) return undefined
  const found = value.properties.find((each) => each.name !== undefined && propertyName(each.name) === key)
  if (found === undefined) return append(value, value.properties, written(keys, item))
  return ts.isPropertyAssignment(found) ? editIn(bare(found.initializer), deeper, item) : undefined
}

/** `filesystem: { read: ['x'] }` */
const written = ([key = '', ...deeper]: readonly string[], item: string): string =>
  deeper.length === 0 ? `${key}: [${item}]` : `${key}: { ${written(deeper, item)} }`

const append = (holder: ts.Node, items: ts.NodeArray<ts.Node>, text: string): TextEdit => {
  const last = items.at(-1)
  if (last !== undefined) return { at: last.getEnd(), text: `, ${text}` }
  const isObject = ts.isObjectLiteralExpression(holder)
  return { at: holder.getStart() + 1, text: isObject ? ` ${text} ` : text }
}

const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
