// Arguments of a call that are in headers too, because the schema of its tool says so (`x-mcp-header`). Proxies read
// the headers, so they must say the same as the body.
import type { IncomingHttpHeaders } from 'node:http'

import { isMapping } from 'cordon/shapes'

import { fieldsOf, textOf } from '../wire/messages.js'
import type { Fields } from '../wire/messages.js'
import { encodedHeader, headerText } from './header-text.js'

interface MirroredArgument {
  /** In lower case. */
  readonly header: string
  readonly path: readonly string[]
}

export interface ParamHeaders {
  /** Takes the result of `tools/list`. */
  readonly learn: (result: Fields) => void
  /** The first header that differs from the arguments. */
  readonly mismatch: (tool: string, args: unknown, headers: IncomingHttpHeaders) => string | undefined
  /** The headers for a call of this tool. */
  readonly headersFor: (tool: string, args: unknown) => Readonly<Record<string, string>>
}

const MOST_TOOLS = 10_000

export const createParamHeaders = (): ParamHeaders => {
  const mirrored = new Map<string, readonly MirroredArgument[]>()
  return {
    learn: ({ tools }) => {
      for (const tool of Array.isArray(tools) && mirrored.size < MOST_TOOLS ? tools.map(fieldsOf) : [])
        mirrored.set(textOf(tool['name']), mirroredIn(tool['inputSchema'], []))
    },
    mismatch: (tool, args, headers) =>
      mirrored.get(tool)?.find(({ header, path }) => !isEqual(headers[header], valueAt(args, path)))?.header,
    headersFor: (tool, args) =>
      Object.fromEntries(
        (mirrored.get(tool) ?? []).flatMap(({ header, path }) => {
          const value = valueAt(args, path)
          return isPlain(value) ? [[header, encodedHeader(String(value))]] : []
        }),
      ),
  }
}

const mirroredIn = (schema: unknown, path: readonly string[]): readonly MirroredArgument[] =>
  Object.entries(fieldsOf(fieldsOf(schema)['properties'])).flatMap(([name, property]) => {
    const here = [...path, name]
    const header = fieldsOf(property)['x-mcp-header']
    const own = typeof header === 'string' ? [{ header: `mcp-param-${header.toLowerCase()}`, path: here }] : []
    return [...own, ...mirroredIn(property, here)]
  })

const valueAt = (args: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>((value, name) => (isMapping(value) ? value[name] : undefined), args)

const isEqual = (header: string | readonly string[] | undefined, value: unknown): boolean => {
  if (value === undefined || value === null) return header === undefined
  return isPlain(value) && headerText(header) === String(value)
}

const isPlain = (value: unknown): value is string | number | boolean =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
