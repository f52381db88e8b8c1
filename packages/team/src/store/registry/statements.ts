// SQL that follows from declarations: the columns of a shape, the conditions of a filter, the call of a function.
import { withoutUndefined } from 'cordon/shapes'
import type { Shape } from 'cordon/shapes'

import { fail } from '../../errors/errors.js'
import type { Queryable } from '../engine.js'
import type { RowOf } from './team-answers.js'

const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** The select list of a shape: `toolId` is the column `tool_id`. `made` has the expressions of the other fields. */
export const columnsOf = (
  { schema, named }: Shape<unknown>,
  made: Readonly<Record<string, string>> = {},
  prefix = '',
): string => {
  const { $ref, properties } = schema
  const name = typeof $ref === 'string' ? $ref.replace(/^.*\//, '') : undefined
  const parts = (name === undefined ? properties : named[name]?.['properties']) as Readonly<Record<string, unknown>>
  return Object.keys(parts)
    .map((field) => `${made[field] ?? prefix + snakeCase(field)} as "${field}"`)
    .join(', ')
}

/** Lists rows of a team. `from` is the rest of the statement, in which `$1` is the team. */
export const listFrom = <Item extends Shape<object>>(
  item: Item,
  from: string,
  made: Readonly<Record<string, string>> = {},
  prefix = '',
): ((asking: Queryable, team: string) => Promise<readonly RowOf<Item>[]>) => {
  const statement = `select ${columnsOf(item, made, prefix)} from ${from}`
  return ({ query }, team) => query(statement, [team])
}
/** The conditions that have a value, joined by "and". `?` stands for the value. */
export const conditionsOf = (
  conditions: readonly (readonly [text: string, value: unknown])[],
): { readonly text: string; readonly values: readonly unknown[] } => {
  const present = conditions.filter(([, value]) => value !== undefined)
  return {
    text: present.map(([text], at) => text.replaceAll('?', `$${String(at + 1)}`)).join(' and '),
    values: present.map(([, value]) => value),
  }
}

/**
 * Calls a function of the schema with its parameters by name: `toolId` is `p_tool_id`. The function has a default for
 * each that is left out.
 */
export const callFunction = async <Value>(
  { query }: Queryable,
  name: string,
  given: Readonly<Record<string, unknown>> = {},
): Promise<Value> => {
  const present = Object.entries(withoutUndefined(given))
  const parameters = present.map(([key], at) => `p_${snakeCase(key)} => $${String(at + 1)}`)
  const [row] = await query<{ value: Value }>(
    `select agents.${name}(${parameters.join(', ')}) as value`,
    present.map(([, value]) => value),
  )
  return row?.value as Value
}

/** The same for a function without a result. */
export const callProcedure = async (...given: Parameters<typeof callFunction>): Promise<void> => {
  await callFunction(...given)
}

/** As an interval of the database. */
export const milliseconds = (count: number): string => `${String(count)} milliseconds`

/** JSON for the database. Infinity and NaN are refused, because JSON.stringify would write null for them. */
export const jsonText = (value: unknown, what: string): string =>
  JSON.stringify(value, (_, each: unknown) => {
    if (typeof each === 'number' && !Number.isFinite(each))
      throw fail('store-state', {
        problem: `${what} has a number that no program can read as a double`,
        hint: 'write it as a text',
      })
    return each
  })
