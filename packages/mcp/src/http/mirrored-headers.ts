// What a request of revision 2026-07-28 says in its headers too, so that proxies can read it: the version, the method,
// the name of what it is about, and some arguments.
import type { IncomingHttpHeaders } from 'node:http'

import { METHODS } from '../wire/era-2025.js'
import { clientOf } from '../wire/era-2026.js'
import { paramsOf, textOf } from '../wire/messages.js'
import type { RequestMessage } from '../wire/messages.js'
import { encodedHeader, headerText } from './header-text.js'
import type { ParamHeaders } from './param-headers.js'

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
  const name = textOf(params[named])
  if (headerText(headers[NAME_HEADER]) !== name) return `Mcp-Name is not the ${named} of the body`
  const header = method === METHODS.callTool ? mirrored.mismatch(name, params['arguments'], headers) : undefined
  return header === undefined ? undefined : `${header} is not the argument of the body`
}

/** The headers for a server. */
export const headersOf = (request: RequestMessage, mirrored: ParamHeaders): Readonly<Record<string, string>> => {
  const { method } = request
  const params = paramsOf(request)
  const named = NAMED[method]
  const name = named === undefined ? undefined : textOf(params[named])
  return {
    [VERSION_HEADER]: textOf(clientOf(params).version),
    [METHOD_HEADER]: encodedHeader(method),
    ...(name === undefined ? {} : { [NAME_HEADER]: encodedHeader(name) }),
    ...(name !== undefined && method === METHODS.callTool ? mirrored.headersFor(name, params['arguments']) : {}),
  }
}
