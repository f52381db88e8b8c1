// An independent implementation of the glob grammar, simple and slow: braces by textual replacement, everything else
// by recursion straight from the definition. Tests compare with it.

/** Multiplies out the innermost group first; supports no escapes. */
const expandBraces = (glob: string): readonly string[] => {
  const group = /\{([^{}]*)\}/.exec(glob)
  if (group === null) return [glob]
  const [whole, inside = ''] = group
  return inside
    .split(',')
    .flatMap((part) => expandBraces(glob.slice(0, group.index) + part + glob.slice(group.index + whole.length)))
}

const nameMatches = (glob: string, name: string): boolean => {
  if (glob === '') return name === ''
  if (glob.startsWith('*')) return nameMatches(glob.slice(1), name) || (name !== '' && nameMatches(glob, name.slice(1)))
  return name !== '' && (glob.startsWith('?') || glob[0] === name[0]) && nameMatches(glob.slice(1), name.slice(1))
}

const segmentsMatch = (globs: readonly string[], names: readonly string[]): boolean => {
  const [glob, ...restGlobs] = globs
  const [name, ...restNames] = names
  if (glob === undefined) return name === undefined
  if (glob !== '**') return name !== undefined && nameMatches(glob, name) && segmentsMatch(restGlobs, restNames)
  if (restGlobs.length === 0) return name !== undefined
  return segmentsMatch(restGlobs, names) || (name !== undefined && segmentsMatch(globs, restNames))
}

const split = (text: string): readonly string[] => text.split('/').filter((part) => part !== '')

/** What one alternative matches: a glob without wildcards also everything beneath. */
const alternativeMatches = (glob: string, path: string): boolean => {
  if (/[*?]/.test(glob)) return segmentsMatch(split(glob), split(path))
  const names = split(path)
  return names.some((_, at) => segmentsMatch(split(glob), names.slice(0, at + 1))) || split(glob).length === 0
}

export const naiveMatches = (glob: string, path: string): boolean =>
  expandBraces(glob).some((item) => alternativeMatches(item, path))

/** Carve-outs also take everything beneath what they match. */
export const naiveCarvesOut = (glob: string, path: string): boolean => {
  const names = split(path)
  return [...names.keys()].some((at) => naiveMatches(glob, `/${names.slice(0, at + 1).join('/')}`))
}
