// Which server a request is for, and what clients call its tools. With one server everything is as the server says.
// With several, names of tools and prompts begin with the name of their server, and resources belong to the server that
// listed them.
import type { CordonError } from 'cordon/errors'

import { fail } from '../errors/errors.js'
import type { ServerLink } from './server-link.js'
import { LISTS, METHODS } from '../wire/era-2025.js'
import { fieldsOf, textField } from '../wire/messages.js'
import type { Fields } from '../wire/messages.js'

export const sharedName = (server: string, name: string): string => `${server}__${name}`

export interface Route {
  readonly link: ServerLink
  readonly params: Fields
}

export interface Router {
  /** Entries of a list as clients see them. */
  readonly share: (link: ServerLink, method: string, entries: readonly unknown[]) => readonly unknown[]
  /** The server of a request, and its params for that server. */
  readonly route: (method: string, params: Fields) => Route | CordonError
}

const NAMED: ReadonlySet<string> = new Set(['tools', 'prompts'])

/** Of a server with more resources than this, the rest cannot be read. */
const MOST_OWNED = 100_000

export const createRouter = (links: readonly ServerLink[]): Router => {
  const resources = new Map<string, ServerLink>()
  /** The text before the first variable of a template. */
  const templates = new Map<string, ServerLink>()
  const counts = new Map<ServerLink, number>()

  /** A server cannot take over what another one listed before. */
  const keepFirst = (owners: Map<string, ServerLink>, key: string, link: ServerLink): void => {
    const count = counts.get(link) ?? 0
    if (owners.has(key) || count >= MOST_OWNED) return
    owners.set(key, link)
    counts.set(link, count + 1)
  }
  const byName = (params: Fields): Route | undefined => {
    const name = textField(params['name'])
    const link = links.find((each) => name.startsWith(sharedName(each.name, '')))
    if (link === undefined) return undefined
    return { link, params: { ...params, name: name.slice(sharedName(link.name, '').length) } }
  }
  const ownerOf = (uri: string): ServerLink | undefined =>
    resources.get(uri) ?? [...templates].find(([start]) => start !== '' && uri.startsWith(start))?.[1]
  const byUri = (params: Fields): Route | undefined => {
    const link = ownerOf(textField(params['uri']))
    return link === undefined ? undefined : { link, params }
  }
  const byReference = (params: Fields): Route | undefined => {
    const ref = fieldsOf(params['ref'])
    const found = 'uri' in ref ? byUri(ref) : byName(ref)
    return found === undefined ? undefined : { link: found.link, params: { ...params, ref: found.params } }
  }
  const found = (method: string, params: Fields): Route | undefined => {
    switch (method) {
      case METHODS.getPrompt:
        return byName(params)
      case METHODS.readResource:
      case METHODS.subscribe:
      case METHODS.unsubscribe:
        return byUri(params)
      case METHODS.complete:
        return byReference(params)
      default:
        return undefined
    }
  }
  return {
    share: (link, method, entries) => {
      const field = LISTS[method]?.field ?? ''
      return entries.map((each) => {
        const entry = fieldsOf(each)
        if (NAMED.has(field)) return { ...entry, name: sharedName(link.name, textField(entry['name'])) }
        const uri = entry['uri']
        if (typeof uri === 'string') keepFirst(resources, uri, link)
        const template = entry['uriTemplate']
        if (typeof template === 'string') {
          keepFirst(templates, template.split('{', 1)[0] ?? '', link)
          keepFirst(resources, template, link)
        }
        return entry
      })
    },
    route: (method, params) =>
      found(method, params) ??
      fail('mcp-not-routed', { what: textField(params['uri'] ?? params['name'], `the method ${method}`) }),
  }
}
