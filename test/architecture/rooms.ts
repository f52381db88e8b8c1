/** `packages/core/src/policy/glob/matches.ts` is in the room `policy` of the package `core`. */
export interface Place {
  readonly package: string
  readonly room: string
}

/** The room of files that lie directly in src/: the entry of a package, or a package without rooms. */
export const ENTRY = '(entry)'

/**
 * The rooms of each package in the order of their imports: a room may import rooms of earlier lines only. Rooms on one
 * line never import each other.
 */
export const ROOM_ORDER: Readonly<Record<string, readonly (readonly string[])[]>> = {
  core: [
    ['errors', 'shapes', 'platform'],
    ['policy'],
    ['gate'],
    ['sandbox', 'egress', 'manifest', 'door'],
    ['runtime', 'diagnosis'],
    ['line'],
    ['settings', 'records'],
    ['products'],
    ['run'],
    ['hook'],
    ['host'],
    ['commands'],
  ],
  mcp: [
    ['errors'],
    ['consent', 'server', 'login', 'packages'],
    ['wire'],
    ['stateless'],
    ['http'],
    ['bridge'],
    ['gateway'],
    ['servers'],
    ['clients'],
    ['commands'],
  ],
  team: [['errors'], ['store'], ['tools', 'server'], ['registry', 'options'], ['runner'], ['commands'], [ENTRY]],
  manifest: [['errors'], ['analysis', 'flow'], ['verify'], ['project', 'report'], ['inspect'], ['commands'], [ENTRY]],
  eslint: [[ENTRY]],
  adapters: [[ENTRY]],
}

/** Every room, as `core/policy`. */
export const ROOMS: readonly string[] = Object.entries(ROOM_ORDER).flatMap(([name, order]) =>
  order.flat().map((room) => `${name}/${room}`),
)

/** Whose public entries a package may import. */
export const MAY_USE: Readonly<Record<string, readonly string[]>> = {
  core: [],
  mcp: ['cordon'],
  team: ['cordon'],
  manifest: ['cordon'],
  eslint: ['cordon', '@cordon/manifest'],
  adapters: ['cordon'],
}

/**
 * Rooms that compute and touch nothing. They may use what only computes, too; `node:module` to load such a thing late.
 */
export const PURE_ROOMS: readonly string[] = [
  ...['core/errors', 'core/shapes', 'core/policy', 'core/gate', 'core/manifest'],
  ...['manifest/errors', 'manifest/flow', 'manifest/verify'],
]
export const PURE_MODULES: readonly string[] = [
  ...['node:crypto', 'node:module', 'node:path', 'node:path/posix', 'yaml'],
  ...['cordon/errors', 'cordon/shapes', 'cordon/policy', 'cordon/gate', 'cordon/manifest'],
]

/**
 * What rooms may have of the core if that is less than all of it, by entry and name. The server runs no tools, and
 * holds none of their secrets (decision 16): of the runtime it has only what answers at a port or socket.
 */
export const ONLY_NAMES: Readonly<Record<string, Readonly<Record<string, readonly string[] | 'all'>>>> = {
  'team/server': {
    'cordon/errors': 'all',
    'cordon/shapes': 'all',
    'cordon/runtime': [
      ...['Door', 'ListenAddress', 'bodyBytes', 'guardRequest', 'isLoopbackHost', 'listenOnAddress'],
      ...['parseListenAddress', 'renderAddress', 'requireEncrypted', 'requireSafe'],
    ],
  },
}

/** Rooms that still have no index.ts. Others import their files. */
export const WITHOUT_INDEX: readonly string[] = [
  ...['core/line', 'core/settings', 'core/products', 'core/run', 'core/hook', 'core/host'],
  ...['mcp/errors', 'mcp/wire', 'mcp/stateless', 'mcp/bridge', 'mcp/packages', 'mcp/servers', 'mcp/clients'],
  ...['team/errors', 'team/tools', 'team/options', 'team/runner'],
  ...['manifest/errors', 'manifest/flow', 'manifest/verify', 'manifest/inspect', 'manifest/report', 'manifest/project'],
]

/** Parts of a room with an index that can be had without the whole. */
export const PARTS: readonly string[] = [
  // `cordon run` should not wait for the rest of the runtime.
  ...[
    'assemble',
    'audit',
    'call',
    'describe',
    'events',
    'held',
    'hints',
    'network',
    'own-files',
    'rule-files',
    'settings',
    'tools',
  ].map((folder) => `packages/core/src/runtime/${folder}/index.js`),
  // The bridge runs in a cell, and needs no consent and no sessions there.
  'packages/mcp/src/consent/look-alike.js',
  'packages/mcp/src/http/mirrored-headers.js',
  // Loads the rest of its room when a server wants a login.
  'packages/mcp/src/login/logins.js',
]

/** Programs that run inside a cell. They have words of their own, and may start others there. */
const IN_CELLS: readonly string[] = ['packages/mcp/src/bridge/', 'packages/core/src/runtime/function-cell/']

/** What the rules still find. Once one is mended, the test fails until its line is gone: the list can only shrink. */
export const STILL: readonly string[] = []

/** Describes this process to the rooms that serve any caller. */
export const OWN_CALLER = 'packages/core/src/line/caller.ts'

export const isInCell = (path: string): boolean => IN_CELLS.some((folder) => path.startsWith(folder))

export const levelOf = ({ package: name, room }: Place): number =>
  ROOM_ORDER[name]?.findIndex((level) => level.includes(room)) ?? -1

export const nameOf = (place: Place): string => `${place.package}/${place.room}`

/** Undefined outside of the sources of a package. */
export const placeOf = (path: string): Place | undefined => {
  const { name, room } = /^packages\/(?<name>[^/]+)\/src\/(?:(?<room>[^/]+)\/)?/.exec(path)?.groups ?? {}
  return name === undefined ? undefined : { package: name, room: room ?? ENTRY }
}
