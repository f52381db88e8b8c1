// npm run bench -- --manifest: the processor time of `cordon manifest verify` with 2,000 tools.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { manifestJson, manifestOf, policyValue } from 'cordon/manifest'
import { parsePolicy } from 'cordon/policy'
import { policyNumber } from './manifest/policies.mjs'

const CORDON = fileURLToPath(new URL('../packages/core/bin/cordon.js', import.meta.url))
const AGENTS = 20
const TOOLS = 2_000

/** @param {(number: number) => boolean} isChanged */
function manifestText(isChanged) {
  const hash = (/** @type {number} */ number) => `sha256:${String(number).padStart(64, '0')}`
  const tools = Array.from({ length: TOOLS }, (_, number) => ({
    name: `tool_${number}`,
    kind: /** @type {const} */ (['function', 'process', 'function'])[number % 3] ?? 'function',
    source: `src/agents/agent-${number % AGENTS}.ts:${number + 1}`,
    policy: policyValue(parsePolicy(policyNumber(number, isChanged(number)), 'bench'), '0'.repeat(64)),
    risk: /** @type {const} */ ('medium'),
    egress_class: /** @type {const} */ ('write'),
    input: hash(number),
    code: hash(TOOLS + number),
    constraints: { only_after: [], forbidden: false },
    approval: /** @type {const} */ ('ask'),
    argument_gate: /** @type {const} */ ('enforced'),
  }))
  const agents = Array.from({ length: AGENTS }, (_, agent) => ({
    name: `agent_${agent}`,
    mode: /** @type {const} */ ('default'),
    budget: { tool_calls: 32 },
    rules: [],
    credentials: {},
    tools: tools.filter((_tool, number) => number % AGENTS === agent),
    mcp_servers: [],
    dynamic: [],
  }))
  return manifestJson(manifestOf({ agents, tags: { public: [], trusted: [], own: [] } }))
}

/** @param {{ quick: boolean, check: boolean }} options */
export function benchManifest({ quick, check }) {
  const folder = mkdtempSync(join(tmpdir(), 'cordon-bench-'))
  try {
    const files = {
      before: manifestText(() => false),
      some: manifestText((number) => number % 50 === 0),
      all: manifestText(() => true),
    }
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, `${name}.json`), text)
    process.stdout.write(
      'processor time of `cordon manifest verify`, in seconds, user and system, the least of several\n\n',
    )
    const cases = [
      { title: 'nothing changed', baseline: 'before', present: 'before', target: undefined },
      { title: '40 of 2,000 tools wider', baseline: 'before', present: 'some', target: 1 },
      { title: 'all 2,000 tools wider', baseline: 'before', present: 'all', target: 4 },
      { title: 'all 2,000 tools narrower', baseline: 'all', present: 'before', target: 4 },
    ]
    let met = true
    for (const { title, baseline, present, target } of cases) {
      const seconds = Math.min(
        ...Array.from({ length: quick ? 2 : 5 }, () => verifySeconds(folder, `${baseline}.json`, `${present}.json`)),
      )
      if (target !== undefined && seconds > target) met = false
      const aim = target === undefined ? '' : `  (target: at most ${target})`
      process.stdout.write(`  ${title.padEnd(28)}${seconds.toFixed(2).padStart(6)}${aim}\n`)
    }
    process.stdout.write(`\ntargets: ${met ? 'met' : 'missed'}\n`)
    if (check && !met) process.exitCode = 1
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * @param {string} cwd
 * @param {string} baseline
 * @param {string} present
 */
function verifySeconds(cwd, baseline, present) {
  // The second line of `times` is about the processes that the shell started.
  const script = '"$@" > /dev/null; status=$?; times >&2; exit $status'
  const words = ['-c', script, 'sh', process.execPath, CORDON, 'manifest', 'verify', '--baseline', baseline, present]
  const { status, stderr } = spawnSync('sh', words, { cwd, encoding: 'utf8' })
  const [user = NaN, system = NaN] = Array.from(
    (stderr.trim().split('\n').at(-1) ?? '').matchAll(/(\d+)m([\d.]+)s/g),
    ([, minutes, seconds]) => 60 * Number(minutes) + Number(seconds),
  )
  if ((status !== 0 && status !== 1) || Number.isNaN(user + system)) throw new Error(`verify failed: ${stderr}`)
  return user + system
}
