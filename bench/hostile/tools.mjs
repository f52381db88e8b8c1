// The tools of the hostile run: honest ones, which are measured, and hostile ones, which run beside them.
import { fileURLToPath } from 'node:url'
import { processTool, tool } from 'cordon'
import { HOST } from './scene.mjs'

/** @typedef {ReturnType<typeof tool> | ReturnType<typeof processTool>} Tool */
/** @typedef {{ name: string, input: Record<string, unknown>, tool: Tool }} Job */

const PROGRAMS = fileURLToPath(new URL('programs/', import.meta.url))
const LIMITS = { memory: '512M', processes: 64, wall: '4s' }
/** On a busy machine an honest call may take long. */
const HONEST = { limits: { ...LIMITS, wall: '60s' } }

/**
 * @param {string} name
 * @param {Record<string, unknown>} policy
 * @param {readonly string[]} words
 * @returns {Job}
 */
const runs = (name, policy, words) => ({
  name,
  input: {},
  tool: processTool({ name, policy: { limits: LIMITS, ...policy }, command: () => words }),
})

/** @param {number} port @returns {readonly Job[]} */
export const honestJobs = (port) => [
  {
    name: 'add',
    input: { a: 1, b: 2 },
    tool: tool({ name: 'add', run: (/** @type {{ a: number, b: number }} */ { a, b }) => a + b }),
  },
  runs('true', HONEST, ['/bin/true']),
  runs('fetch', { ...HONEST, network: [`${HOST}:${port}`], egress_class: 'read_only' }, [
    'curl',
    '-sS',
    '--fail',
    `https://${HOST}:${port}/`,
  ]),
]

/**
 * @param {number} port
 * @param {string} ground a write root in which hostile tools may do what they like
 * @returns {readonly Job[]}
 */
export const hostileJobs = (port, ground) => {
  const python = (/** @type {string} */ program, /** @type {string[]} */ ...words) => [
    '/usr/bin/python3',
    `${PROGRAMS}${program}.py`,
    ...words,
  ]
  const network = { filesystem: { read: [PROGRAMS] }, network: [`${HOST}:${port}`], egress_class: 'read_only' }
  const files = { filesystem: { read: [PROGRAMS], write: [ground] } }
  return [
    ...['unread', 'connections', 'blanks', 'first-bytes'].map((way) =>
      runs(`network-${way}`, network, python('network', way, HOST, String(port))),
    ),
    ...['locks', 'inotify', 'timers', 'pipes', 'forks'].map((way) =>
      runs(`take-${way}`, { filesystem: { read: [PROGRAMS, '/etc'] } }, python('resources', way)),
    ),
    ...['flood', 'links', 'protected'].map((way) =>
      runs(`names-${way}`, files, [
        '/bin/sh',
        '-c',
        'd=$(mktemp -d "$1/XXXXXX") && cd "$d" && shift && "$@"; cd / && rm -rf "$d"',
        'sh',
        ground,
        ...python('names', way),
      ]),
    ),
    runs('output', {}, ['yes']),
    {
      name: 'many-elements',
      input: {},
      tool: tool({ name: 'many-elements', policy: { limits: LIMITS }, run: () => new Array(7_000_000).fill(0) }),
    },
    {
      name: 'deep-elements',
      input: {},
      tool: tool({
        name: 'deep-elements',
        policy: { limits: LIMITS },
        run: () => {
          let deep = /** @type {unknown[]} */ ([])
          for (let depth = 0; depth < 1000; depth++) deep = [deep]
          return new Array(7_000).fill(deep)
        },
      }),
    },
    {
      name: 'progress',
      input: {},
      tool: tool({
        name: 'progress',
        policy: { limits: LIMITS },
        run: async function* () {
          for (let step = 0; step < 100_000; step++) yield { step, text: 'x'.repeat(100) }
        },
      }),
    },
  ]
}
