// Paths that mean something else in each process: /proc/self and what leads there, such as /dev/stdin and /dev/fd. The
// local host must not follow one for another process.
import { lstatSync, readlinkSync } from 'node:fs'
import { resolve } from 'node:path'

const OF_A_PROCESS = /^\/proc\/(?:self|thread-self|\d+)(?:\/|$)/
const MOST_LINKS = 40

/** Links that were read, by their paths. Null: no link. */
type Links = Map<string, string | null>

export const leadsThroughProcess = (path: string, links: Links = new Map(), left = MOST_LINKS): boolean => {
  const names = resolve('/', path).split('/').slice(1)
  let at = ''
  for (const [index, name] of names.entries()) {
    at += `/${name}`
    if (OF_A_PROCESS.test(at)) return true
    const target = linkAt(at, links)
    if (target === null) continue
    const rest = names.slice(index + 1).join('/')
    return left === 0 || leadsThroughProcess(resolve(at, '..', target, rest), links, left - 1)
  }
  return false
}

const linkAt = (path: string, links: Links): string | null => {
  const known = links.get(path)
  if (known !== undefined) return known
  const found = readAt(path)
  links.set(path, found)
  return found
}

const readAt = (path: string): string | null => {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true ? readlinkSync(path) : null
  } catch {
    return null
  }
}
