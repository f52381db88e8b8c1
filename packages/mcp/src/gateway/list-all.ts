// Reads a whole list of a server, page by page.
import type { CordonError } from 'cordon/errors'

import { fail } from '../errors/errors.js'
import type { ServerLink } from './server-link.js'
import { LISTS } from '../wire/era-2025.js'
import { LONGEST_LINE } from '../wire/lines.js'
import { fieldsOf, requestOf } from '../wire/messages.js'
import type { Fields } from '../wire/messages.js'

/** A server that gives more pages than this gives them for ever. */
const MOST_PAGES = 1_000
export const MOST_ENTRIES = 10_000

export const listAll = async (link: ServerLink, method: string): Promise<readonly unknown[]> => {
  const entries: unknown[] = []
  let letters = 0
  let params: Fields = {}
  await link.awaken()
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const answer = await link.ask(requestOf(0, method, params)).answer
    if (answer.kind === 'lost') throw answer.error
    const result = fieldsOf(answer.fields['result'])
    const found = result[LISTS[method]?.field ?? '']
    if ('result' in answer.fields && !Array.isArray(found)) throw unusableList(link, method)
    for (const entry of Array.isArray(found) ? (found as readonly unknown[]) : []) entries.push(entry)
    letters += JSON.stringify(found ?? null).length
    if (entries.length > MOST_ENTRIES || letters > LONGEST_LINE) break
    if (typeof result['nextCursor'] !== 'string') return entries
    params = { cursor: result['nextCursor'] }
  }
  const problem = `has a list of more than ${MOST_PAGES} pages, ${MOST_ENTRIES} entries or ${LONGEST_LINE} letters`
  throw fail('mcp-server-garbled', { server: link.name, problem })
}

export const unusableList = (link: ServerLink, method: string): CordonError => {
  const problem = `answered ${method} without a list, or with more than ${MOST_ENTRIES} entries`
  return fail('mcp-server-garbled', { server: link.name, problem })
}
