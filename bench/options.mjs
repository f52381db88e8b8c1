import { parseArgs } from 'node:util'

export const HELP = `usage: npm run bench -- [options]

  --decide           measure only how long the gate takes to decide, with up to 10,000 rules
  --manifest         measure only the processor time of cordon manifest verify with 2,000 tools
  --tools            measure only calls of tools from end to end, decided and recorded
  --egress           measure only the proxy, beside a straight connection and other proxies: a request on a new
                     connection, a download, many connections
  --store            measure only the store: calls per second on PostgreSQL and embedded, beside the same writes (by
                     pgbench); from approval to start; the same with a million old calls; first use of an embedded store
  --gateway          measure only requests through cordon mcp, against the same MCP server alone
  --eslint           measure only what the rules of eslint-plugin-cordon add to a lint of 50,000 lines
  --walls            measure only cells inside bubblewrap and firejail, in containers, and WASI tools, each against
                     native cells and a bare spawn
  --hostile          measure only honest calls beside hostile tools in one runtime: ten minutes
  --sustain SECONDS  with --tools: keep 8 calls in flight for so long, and see that nothing grows;
                     with --hostile: how long hostile tools run (default: 600, with --quick 60)
  --quick            fewer samples: a few minutes become half a minute
  --only NAME,...    only these contestants and measurements (bare always runs)
  --peers DIR        also look for peers in DIR/node_modules and DIR/bin
  --host-memory MB   fill the host process with so much memory first: a bare
                     spawn from Node copies page tables, so it grows with the host
  --json FILE        write every figure as JSON
  --svg FILE         draw the figures
  --from FILE        measure nothing; report on an earlier --json file
  --check            compare with the targets; exit 1 when one is missed
  --help             this text

contestants:  bare cordon-cold cordon-warm cordon-landlock cordon-call cordon-call-log cordon-function
              cordon-function-log bubblewrap sandbox-runtime codex firejail podman crun
measurements: start rate command idle find gcc git python node memory
`

const CONTESTANT_NAMES = [
  'bare',
  'cordon-cold',
  'cordon-warm',
  'cordon-landlock',
  'cordon-call',
  'cordon-call-log',
  'cordon-function',
  'cordon-function-log',
  'bubblewrap',
  'sandbox-runtime',
  'codex',
  'firejail',
  'podman',
  'crun',
]
const MEASUREMENT_NAMES = ['start', 'rate', 'command', 'idle', 'find', 'gcc', 'git', 'python', 'node', 'memory']

/**
 * @typedef {object} Options
 * @property {boolean} help
 * @property {boolean} decide
 * @property {boolean} manifest
 * @property {boolean} store
 * @property {boolean} tools
 * @property {boolean} egress
 * @property {boolean} gateway
 * @property {boolean} eslint
 * @property {boolean} hostile
 * @property {boolean} walls
 * @property {number} sustain seconds; 0 is not at all
 * @property {boolean} quick
 * @property {boolean} check
 * @property {number} hostMemory MiB to fill before measuring
 * @property {string | undefined} peers
 * @property {string | undefined} json
 * @property {string | undefined} svg
 * @property {string | undefined} from
 * @property {ReadonlySet<string>} contestants
 * @property {ReadonlySet<string>} measurements
 */

/**
 * @param {string[]} words
 * @returns {Options}
 */
export function parseOptions(words) {
  const { values } = parseArgs({
    args: words,
    options: {
      'help': { type: 'boolean', default: false },
      'decide': { type: 'boolean', default: false },
      'manifest': { type: 'boolean', default: false },
      'store': { type: 'boolean', default: false },
      'tools': { type: 'boolean', default: false },
      'egress': { type: 'boolean', default: false },
      'gateway': { type: 'boolean', default: false },
      'eslint': { type: 'boolean', default: false },
      'hostile': { type: 'boolean', default: false },
      'walls': { type: 'boolean', default: false },
      'sustain': { type: 'string', default: '0' },
      'quick': { type: 'boolean', default: false },
      'check': { type: 'boolean', default: false },
      'only': { type: 'string', multiple: true },
      'peers': { type: 'string' },
      'host-memory': { type: 'string', default: '0' },
      'json': { type: 'string' },
      'svg': { type: 'string' },
      'from': { type: 'string' },
    },
  })
  const hostMemory = Number(values['host-memory'])
  if (!Number.isInteger(hostMemory) || hostMemory < 0) throw new Error('--host-memory wants a whole number of MiB')
  const sustain = Number(values.sustain)
  if (!Number.isFinite(sustain) || sustain < 0) throw new Error('--sustain wants a number of seconds')
  const only = (values.only ?? []).flatMap((names) => names.split(',')).filter((name) => name !== '')
  return {
    help: values.help,
    decide: values.decide,
    manifest: values.manifest,
    store: values.store,
    tools: values.tools,
    egress: values.egress,
    gateway: values.gateway,
    eslint: values.eslint,
    hostile: values.hostile,
    walls: values.walls,
    sustain,
    quick: values.quick,
    check: values.check,
    hostMemory,
    peers: values.peers,
    json: values.json,
    svg: values.svg,
    from: values.from,
    ...selection(only),
  }
}

/**
 * Names of one kind leave the other kind whole: `--only gcc` is gcc for everyone.
 * @param {string[]} only
 */
function selection(only) {
  const unknown = only.find((name) => !CONTESTANT_NAMES.includes(name) && !MEASUREMENT_NAMES.includes(name))
  if (unknown !== undefined) throw new Error(`--only: unknown name ${unknown}; --help lists them`)
  const contestants = CONTESTANT_NAMES.filter((name) => only.includes(name))
  const measurements = MEASUREMENT_NAMES.filter((name) => only.includes(name))
  return {
    contestants: new Set(contestants.length === 0 ? CONTESTANT_NAMES : ['bare', ...contestants]),
    measurements: new Set(measurements.length === 0 ? MEASUREMENT_NAMES : measurements),
  }
}
