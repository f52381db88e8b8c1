// Decides operations by the text of a Seatbelt profile, for the part of SBPL that Cordon writes. It knows nothing of
// the code that wrote the profile, and throws at every word that it does not know.

type Expression = string | { readonly text: string } | readonly Expression[]

const tokensOf = (source: string): readonly string[] => source.match(/"(?:[^"\\]|\\.)*"|[()]|[^\s()"]+|"/g) ?? []

const parse = (source: string): readonly Expression[] => {
  const tokens = tokensOf(source)
  let at = 0
  const list = (isInner: boolean): readonly Expression[] => {
    const items: Expression[] = []
    for (;;) {
      const token = tokens[at]
      at += 1
      if (token === undefined || token === ')') {
        if ((token === undefined) === isInner) throw new Error('the parentheses do not match')
        return items
      }
      if (token === '(') items.push(list(true))
      else if (token.startsWith('"')) {
        if (token.length < 2) throw new Error('a text has no end')
        items.push({ text: token.slice(1, -1).replace(/\\(.)/g, '$1') })
      } else items.push(token)
    }
  }
  return list(false)
}

/** One attempt of a program, as the kernel puts it to Seatbelt: with real paths, without links. */
export interface Attempt {
  readonly operation: string
  readonly path?: string
  readonly vnode?: 'DIRECTORY' | 'REGULAR-FILE'
  readonly remote?: { readonly protocol: 'tcp' | 'udp'; readonly host: string; readonly port: number }
  readonly local?: { readonly protocol: 'tcp' | 'udp'; readonly port: number }
  readonly service?: string
  readonly sysctl?: string
  readonly target?: 'self' | 'children' | 'others'
}

const textOf = (expression: Expression | undefined): string => {
  if (typeof expression === 'object' && 'text' in expression) return expression.text
  throw new Error(`a text is missing: ${JSON.stringify(expression)}`)
}

const isAddress = (wanted: string, host: string, port: number): boolean => {
  const [name = '', number = ''] = wanted.split(':')
  if (name !== '*' && name !== 'localhost') throw new Error(`Seatbelt knows no address ${name}`)
  const isLoopback = host === '127.0.0.1' || host === '::1'
  return (name === '*' || isLoopback) && (number === '*' || Number(number) === port)
}

const isProtocol = (wanted: Expression | undefined, protocol: string): boolean => {
  if (wanted !== 'ip' && wanted !== 'tcp') throw new Error(`unknown protocol ${JSON.stringify(wanted)}`)
  return wanted === 'ip' || wanted === protocol
}

const known = new Map<string, RegExp>()

const compiled = (text: string): RegExp => {
  const expression = known.get(text) ?? new RegExp(text, 'u')
  known.set(text, expression)
  return expression
}

const holds = (filter: Expression, attempt: Attempt): boolean => {
  if (typeof filter === 'string' || 'text' in filter) throw new Error(`not a filter: ${JSON.stringify(filter)}`)
  const [name, ...rest] = filter
  const { path } = attempt
  switch (name) {
    case 'require-all':
      return rest.every((each) => holds(each, attempt))
    case 'require-any':
      return rest.some((each) => holds(each, attempt))
    case 'require-not':
      return rest.every((each) => !holds(each, attempt))
    case 'literal':
      return path === textOf(rest[0])
    case 'subpath': {
      const folder = textOf(rest[0])
      return path === folder || path?.startsWith(`${folder}/`) === true
    }
    case 'regex':
      return path !== undefined && compiled(textOf(rest[0])).test(path)
    case 'vnode-type':
      return attempt.vnode === rest[0]
    case 'remote': {
      const { remote } = attempt
      return (
        remote !== undefined &&
        isProtocol(rest[0], remote.protocol) &&
        isAddress(textOf(rest[1]), remote.host, remote.port)
      )
    }
    case 'local':
      return (
        attempt.local !== undefined &&
        isProtocol(rest[0], attempt.local.protocol) &&
        isAddress(textOf(rest[1]), '127.0.0.1', attempt.local.port)
      )
    case 'global-name':
      return attempt.service === textOf(rest[0])
    case 'sysctl-name':
      return attempt.sysctl === textOf(rest[0])
    case 'sysctl-name-prefix':
      return attempt.sysctl?.startsWith(textOf(rest[0])) === true
    case 'target':
      return attempt.target === rest[0]
    default:
      throw new Error(`unknown filter ${JSON.stringify(name)}`)
  }
}

/** As Apple's and others' published profiles spell them. */
const OPERATIONS: ReadonlySet<string> = new Set(
  [
    'file-read* file-read-data file-read-metadata file-write* file-write-data file-write-create file-write-unlink',
    'file-write-setugid file-write-mode file-write-times file-link file-map-executable file-ioctl',
    'process-exec* process-exec process-fork process-info* signal mach-lookup sysctl-read lsopen',
    'network-outbound network-bind network-inbound ipc-posix-shm appleevent-send',
  ].flatMap((names) => names.split(' ')),
)

const covers = (ruled: string, operation: string): boolean =>
  ruled.endsWith('*') ? operation.startsWith(ruled.slice(0, -1)) : ruled === operation

/** Whether the profile allows the attempt: the last rule that matches it decides. */
export const evaluate = (profile: string): ((attempt: Attempt) => boolean) => {
  const [version, fallback, ...rules] = parse(profile)
  if (JSON.stringify([version, fallback]) !== '[["version","1"],["deny","default"]]')
    throw new Error('it does not begin with (version 1) (deny default)')
  const read = rules.map((expression) => {
    if (typeof expression === 'string' || 'text' in expression) throw new Error('not a rule')
    const [action, ...parts] = expression
    if (action !== 'allow' && action !== 'deny') throw new Error(`unknown action ${JSON.stringify(action)}`)
    const operations = parts.filter((part): part is string => typeof part === 'string')
    const unknown = operations.find((operation) => !OPERATIONS.has(operation))
    if (unknown !== undefined || operations.length === 0) throw new Error(`unknown operation ${unknown ?? ''}`)
    return { isAllowed: action === 'allow', operations, filters: parts.filter((part) => typeof part !== 'string') }
  })
  return (attempt) => {
    if (!OPERATIONS.has(attempt.operation)) throw new Error(`unknown operation ${attempt.operation}`)
    const last = read.findLast(
      ({ operations, filters }) =>
        operations.some((operation) => covers(operation, attempt.operation)) &&
        (filters.length === 0 || filters.some((filter) => holds(filter, attempt))),
    )
    return last?.isAllowed === true
  }
}
