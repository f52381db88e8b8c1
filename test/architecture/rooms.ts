/**
 * The rooms of src/ in the order of their imports: a room may import rooms of earlier lines only.
 * Rooms on one line never import each other.
 */
export const ROOM_ORDER: readonly (readonly string[])[] = [
  ['errors', 'shapes', 'platform'],
  ['policy'],
  ['gate'],
  ['sandbox', 'egress', 'store', 'analysis', 'manifest'],
  ['runtime'],
  ['server', 'mcp-server', 'mcp-auth', 'adapters', 'eslint'],
  ['mcp'],
  ['cli'],
]

/**
 * Rooms that compute and touch nothing. They may use what only computes, too; `node:module` to load such a thing late.
 */
export const PURE_ROOMS: readonly string[] = ['errors', 'shapes', 'policy', 'gate', 'manifest']
export const PURE_MODULES: readonly string[] = ['node:crypto', 'node:module', 'node:path', 'node:path/posix', 'yaml']

/**
 * Earlier rooms that one has no business with: the server runs no tools, and holds none of their secrets (decision 16).
 */
export const KEPT_APART: Readonly<Record<string, readonly string[]>> = { server: ['sandbox', 'egress', 'runtime'] }

/** Parts of a room that can be had without the whole, because `cordon run` should not wait for the rest. */
export const PARTS_WITH_INDEX: readonly string[] = [
  'src/runtime/agent-hook/index.js',
  'src/runtime/audit/index.js',
  'src/runtime/call/index.js',
  'src/runtime/describe/index.js',
  'src/runtime/held/index.js',
  'src/runtime/events/index.js',
  'src/runtime/hints/index.js',
  'src/runtime/network/index.js',
  'src/runtime/own-files/index.js',
  'src/runtime/rule-files/index.js',
  'src/runtime/tools/index.js',
  'src/runtime/settings/index.js',
  'src/mcp/http/index.js',
  'src/server/door/index.js',
]

/** Programs that run inside a cell. They have words of their own, and may start others there. */
const IN_CELLS: readonly string[] = ['src/mcp/bridge/', 'src/runtime/function-cell/']

export const isInCell = (path: string): boolean => IN_CELLS.some((folder) => path.startsWith(folder))

export const levelOf = (room: string): number => ROOM_ORDER.findIndex((level) => level.includes(room))

/** `src/policy/index.ts` → `policy` */
export const roomOf = (path: string): string | undefined => /^src\/([^/]+)\//.exec(path)?.[1]
