// The port that a server publishes inside its cell: `PORT` or `PORT/PATH`.
import { fail } from '../errors/errors.js'

const FIX = 'write PORT or PORT/PATH, such as 3000/mcp'

/** `source`: the option or the line that says so. Gives the address inside the cell. */
export const parsePublished = (text: string, source: string): string => {
  const [, digits = '', path = '/mcp'] = /^(\d{1,5})(\/[!-~]*)?$/.exec(text) ?? []
  const port = Number(digits)
  if (digits === '' || port < 1 || port > 65_535)
    throw fail('usage-error', { problem: `${source}: ${JSON.stringify(text)} is not a port with a path`, fix: FIX })
  return new URL(path, `http://127.0.0.1:${port}`).href
}
