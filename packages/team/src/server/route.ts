import { fail } from '../errors/errors.js'
import { OPERATION_NAMES, operationOf } from '../store/index.js'
import type { AnyOperation, RequestFields } from '../store/index.js'
import { invalid } from './problem.js'

const ROUTES = OPERATION_NAMES.map((name) => {
  const operation = operationOf(name)
  return { operation, parts: operation.path.split('/').slice(1) }
})

/** `target` as it was sent. The path is split before its parts are decoded. `given`: the fields of path and query. */
export const routeRequest = (
  method: string,
  target: string,
): { readonly operation: AnyOperation; readonly given: RequestFields } => {
  const [path = '', ...queries] = target.split('?')
  if (!path.startsWith('/') || queries.length > 1) throw invalid('its target is no path')
  const words = path.split('/').slice(1).map(decoded)
  if (words.some((word) => word === '.' || word === '..' || word === '')) throw missing(method, path)
  const route = ROUTES.find(
    ({ operation, parts }) =>
      operation.method === method &&
      parts.length === words.length &&
      parts.every((part, at) => part.startsWith('{') || part === words[at]),
  )
  if (route === undefined) throw missing(method, path)
  const { operation, parts } = route
  const inPath = parts.flatMap((part, at) =>
    part.startsWith('{') ? [[part.slice(1, -1), words[at] ?? ''] as const] : [],
  )
  const inQuery = [...new URLSearchParams(queries[0] ?? '')]
  if (method === 'POST' && inQuery.length > 0) throw invalid('what a POST is given is in its body')
  const names = [...inPath, ...inQuery].map(([name]) => name)
  if (new Set(names).size < names.length) throw invalid('a field is given twice')
  return {
    operation,
    given: Object.fromEntries(
      [...inPath, ...inQuery].map(([name, text]) => [
        name,
        Object.hasOwn(operation.fields, name) ? operation.fields[name]?.fromText(text) : text,
      ]),
    ),
  }
}

const decoded = (word: string): string => {
  try {
    return decodeURIComponent(word)
  } catch {
    throw invalid('its path cannot be decoded')
  }
}

const missing = (method: string, path: string) =>
  fail('route-missing', { method: method.slice(0, 20), path: path.slice(0, 200) })
