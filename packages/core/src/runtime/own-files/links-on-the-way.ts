import { isLink, readLink } from '../../platform/index.js'
import type { AbsolutePath } from '../../policy/index.js'
import { joinNames } from '../../policy/index.js'

/** As many as the kernel follows. */
const MOST_LINKS = 40

/** Every symbolic link that the kernel follows to reach a path, by its real place. */
export const linksOnTheWay = (path: AbsolutePath): readonly AbsolutePath[] => {
  const links: AbsolutePath[] = []
  const ahead = namesIn(path)
  let behind: string[] = []
  for (let name = ahead.shift(); name !== undefined && links.length < MOST_LINKS; name = ahead.shift()) {
    if (name === '..') {
      behind.pop()
      continue
    }
    const here = joinNames([...behind, name])
    const target = targetOf(here)
    if (target === undefined) {
      behind.push(name)
      continue
    }
    links.push(here)
    ahead.unshift(...namesIn(target))
    if (target.startsWith('/')) behind = []
  }
  return links
}

const namesIn = (path: string): string[] => path.split('/').filter((name) => name !== '' && name !== '.')

const targetOf = (path: string): string | undefined => (isLink(path) ? readLink(path) : undefined)
