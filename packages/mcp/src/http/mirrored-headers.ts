// What a request of revision 2026-07-28 says in its headers too, so that proxies can read it: the version, the method,
// the name of what it is about, and some arguments.
import type { IncomingHttpHeaders } from 'node:http'

import { isMapping } from 'cordon/shapes'

import { METHODS } from '../wire/era-2025.js'
import { clientOf } from '../wire/era-2026.js'
import { fieldsOf, paramsOf, textField } from '../wire/messages.js'
import type { Fields, RequestMessage } from '../wire/messages.js'

export const VERSION_HEADER = 'mcp-protocol-version'
const METHOD_HEADER = 'mcp-method'
const NAME_HEADER = 'mcp-name'

/** Requests whose name is in a header too. */
const NAMED: Readonly<Record<string, string>> = {
  [METHODS.callTool]: 'name',
  [METHODS.getPrompt]: 'name',
  [METHODS.readResource]: 'uri',
}

/** What a proxy reads in the headers must be what the gateway judges. */
export const mismatchOf = (
  request: RequestMessage,
  headers: IncomingHttpHeaders,
  mirrored: ParamHeaders,
): string | undefined => {
  const { method } = request
  const params = paramsOf(request)
  if (headers[VERSION_HEADER] !== clientOf(params).version) return 'MCP-Protocol-Version is not that of the body'
  if (headerText(headers[METHOD_HEADER]) !== method) return 'Mcp-Method is not the method of the body'
  const named = NAMED[method]
  if (named === undefined) return undefined
  const name = textField(params[named])
  if (headerText(headers[NAME_HEADER]) !== name) return `Mcp-Name is not the ${named} of the body`
  const header = method === METHODS.callTool ? mirrored.mismatch(name, params['arguments'], headers) : undefined
  return header === undefined ? undefined : `${header} is not the argument of the body`
}

/** The headers for a server. */
export const headersOf = (request: RequestMessage, mirrored: ParamHeaders): Readonly<Record<string, string>> => {
  const { method } = request
  const params = paramsOf(request)
  const named = NAMED[method]
  const name = named === undefined ? undefined : textField(params[named])
  return {
    [VERSION_HEADER]: textField(clientOf(params).version),
    [METHOD_HEADER]: encodedHeader(method),
    ...(name === undefined ? {} : { [NAME_HEADER]: encodedHeader(name) }),
    ...(name !== undefined && method === METHODS.callTool ? mirrored.headersFor(name, params['arguments']) : {}),
  }
}

/** An argument of a call that is in a header too, because the schema of its tool says so (`x-mcp-header`). */
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
        mirrored.set(textField(tool['name']), mirroredIn(tool['inputSchema'], []))
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

const ENCODED = /^=\?base64\?(.*)\?=$/
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/** The text of a header that may be encoded. Undefined if there is none, or it is not encoded correctly. */
const headerText = (value: string | readonly string[] | undefined): string | undefined => {
  if (typeof value !== 'string') return undefined
  const [, encoded] = ENCODED.exec(value) ?? []
  if (encoded === undefined) return /^[\t\x20-\x7e]*$/.test(value) ? value : undefined
  return BASE64.test(encoded) ? Buffer.from(encoded, 'base64').toString('utf8') : undefined
}

/** A text as a header. It is encoded if a header cannot carry it as it is, or it looks encoded itself. */
const encodedHeader = (text: string): string =>
  /^(?! )[\x20-\x7e]*$/.test(text) && !text.endsWith(' ') && !ENCODED.test(text)
    ? text
    : `=?base64?${Buffer.from(text).toString('base64')}?=`
