// What functions of Node do to files, hosts, variables and programs. A module that is not listed here is opaque.

/** The place of an argument: a path, a URL and so on. */
export type Effect =
  | { readonly kind: 'read' | 'write'; readonly argument: number }
  | { readonly kind: 'exec' | 'shell' }
  | { readonly kind: 'open'; readonly path: number; readonly flags: number }
  | { readonly kind: 'request'; readonly scheme: 'http' | 'https' | 'any' }
  | { readonly kind: 'connect' | 'anywhere' }
  | { readonly kind: 'lookup'; readonly argument: number }
  | { readonly kind: 'opaque'; readonly because: string }

const read = (argument = 0): Effect => ({ kind: 'read', argument })
const write = (argument = 0): Effect => ({ kind: 'write', argument })
const exec: Effect = { kind: 'exec' }
const shell: Effect = { kind: 'shell' }
const opaque = (because: string): readonly Effect[] => [{ kind: 'opaque', because }]

type Members = Readonly<Record<string, readonly Effect[]>>

const each = (names: string, ...effects: readonly Effect[]): Members =>
  Object.fromEntries(names.split(' ').map((name) => [name, effects]))

/** Without `Sync` at the end. What works on an open file is not here, because opening it was. */
const FILES: Members = {
  ...each('access exists glob lstat openAsBlob opendir readFile readdir readlink realpath stat statfs watch', read()),
  ...each('createReadStream ReadStream watchFile', read()),
  ...each('appendFile chmod chown createWriteStream lchmod lchown lutimes mkdir mkdtemp rm rmdir truncate', write()),
  ...each('mkdtempDisposable unlink utimes writeFile WriteStream', write()),
  ...each('copyFile cp link', read(0), write(1)),
  ...each('rename', write(0), write(1)),
  ...each('symlink', write(1)),
  ...each('open', { kind: 'open', path: 0, flags: 1 }),
}

const PROGRAMS: Members = {
  ...each('spawn execFile fork', exec),
  ...each('exec', shell),
}

const REQUESTS = (scheme: 'http' | 'https'): Members => each('request get ClientRequest', { kind: 'request', scheme })
const STREAMS = {
  ...each('connect createConnection', { kind: 'connect' }),
  // Where it is connected to, a later call says.
  ...each('Socket TLSSocket', { kind: 'anywhere' }),
}

const LOOKUPS: Members = {
  ...each('Resolver', { kind: 'anywhere' }),
  ...each(
    'lookup resolve resolve4 resolve6 resolveAny resolveCaa resolveCname resolveMx resolveNaptr resolveNs resolvePtr ' +
      'resolveSoa resolveSrv resolveTxt reverse lookupService',
    { kind: 'lookup', argument: 0 },
  ),
}

const MODULES: Readonly<Record<string, Members>> = {
  'fs': FILES,
  'fs/promises': FILES,
  'child_process': PROGRAMS,
  'cluster': each('fork', exec),
  'http': REQUESTS('http'),
  'https': REQUESTS('https'),
  'http2': each('connect', { kind: 'request', scheme: 'any' }),
  'net': STREAMS,
  'tls': STREAMS,
  'dns': LOOKUPS,
  'dns/promises': LOOKUPS,
  'sqlite': each('DatabaseSync backup', write()),
  'process': { ...each('loadEnvFile', read()), ...each('execve', exec), ...each('report', write(9)) },
  'v8': each('writeHeapSnapshot', write()),
}

/** Modules that only compute, or that tell of this process and its host. */
const HARMLESS: ReadonlySet<string> = new Set(
  (
    'assert assert/strict async_hooks buffer console constants crypto diagnostics_channel events os path path/posix ' +
    'path/win32 perf_hooks process punycode querystring readline readline/promises stream stream/consumers ' +
    'stream/promises stream/web string_decoder sys timers timers/promises tty url util util/types v8 zlib test'
  ).split(' '),
)

/** Things of these modules that can do everything. */
const OPAQUE_MEMBERS: Readonly<Record<string, string>> = {
  'worker_threads.Worker': 'it starts a thread with code of its own',
  'process.binding': 'it reaches native code',
  'process.chdir': 'it changes the folder from which paths start',
  'process.dlopen': 'it loads native code',
  'process.mainModule': 'it reaches every module',
  'module.Module': 'it loads modules by computed names',
  'module.constructor': 'it loads modules by computed names',
  'module.register': 'it replaces modules',
  'module.registerHooks': 'it replaces modules',
  'module._load': 'it loads modules by computed names',
  'dgram.createSocket': 'it sends datagrams, which no policy can name',
  'v8.setFlagsFromString': 'it changes the engine',
  'v8.startupSnapshot': 'it changes the engine',
}

const KNOWN_OTHERWISE: ReadonlySet<string> = new Set(['worker_threads', 'module', 'dgram'])

/** `path`: the names after the module, such as `promises.readFile`. */
export const effectsOf = (module: string, path: readonly string[]): readonly Effect[] => {
  if (module === 'fs' && path[0] === 'promises') return effectsOf('fs/promises', path.slice(1))
  if (module === 'dns' && path[0] === 'promises') return effectsOf('dns/promises', path.slice(1))
  const [name = ''] = path
  const because = OPAQUE_MEMBERS[`${module}.${name}`]
  if (because !== undefined) return opaque(because)
  const members = MODULES[module]
  if (members !== undefined)
    return (Object.hasOwn(members, name) ? members[name] : members[name.replace(/Sync$/, '')]) ?? []
  return HARMLESS.has(module) || KNOWN_OTHERWISE.has(module) ? [] : opaque('its module is not known')
}

/** Whether a module used as a value could do anything that a policy is about. */
export const isHarmless = (module: string): boolean => HARMLESS.has(module) && module !== 'process' && module !== 'v8'

/** What a package can reach. */
export type Reach = 'files' | 'hosts' | 'programs' | 'variables' | 'native code' | 'opaque'

/** What loading a module of Node makes possible. Others, such as `process`, count where their members are named. */
export const reachOfModule = (module: string): Reach | undefined => {
  if (REACHES[module] !== undefined) return REACHES[module]
  return HARMLESS.has(module) || KNOWN_OTHERWISE.has(module) ? undefined : 'opaque'
}

const REACHES: Readonly<Record<string, Reach>> = {
  'fs': 'files',
  'fs/promises': 'files',
  'sqlite': 'files',
  'child_process': 'programs',
  'cluster': 'programs',
  'http': 'hosts',
  'https': 'hosts',
  'http2': 'hosts',
  'net': 'hosts',
  'tls': 'hosts',
  'dgram': 'hosts',
  'dns': 'hosts',
  'dns/promises': 'hosts',
  'quic': 'hosts',
}

/** Names that need no import. */
export const globalEffects = (path: readonly string[]): readonly Effect[] => {
  const [name = '', member] = path
  switch (name) {
    case 'fetch':
      return [{ kind: 'request', scheme: 'any' }]
    case 'WebSocket':
    case 'EventSource':
      return [{ kind: 'request', scheme: 'any' }]
    case 'eval':
    case 'Function':
      return opaque('it makes code of a text')
    case 'WebAssembly':
      return member === 'validate' ? [] : opaque('it runs compiled code')
    case 'process':
      return effectsOf('process', path.slice(1))
    case 'require':
      return member === undefined || member === 'resolve' ? [] : opaque('it reaches every module')
    case 'module':
      return member === 'require' || member === 'exports' ? [] : opaque('it reaches every module')
    default:
      return []
  }
}
