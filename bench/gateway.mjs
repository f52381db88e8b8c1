// npm run bench -- --gateway: what `cordon mcp` adds to a request, against the same server alone. Both are open at the
// same time and asked in turns, so that a busy machine slows both alike.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { percentile } from './measure/statistics.mjs'

const SERVER = fileURLToPath(new URL('gateway/echo-server.mjs', import.meta.url))
const CORDON = fileURLToPath(new URL('../packages/core/bin/cordon.js', import.meta.url))

const REQUESTS = [
  {
    title: 'relayed (prompts/get)',
    method: 'prompts/get',
    params: { name: 'greet' },
    targetMs: 0.5,
  },
  {
    title: 'decided and recorded (tools/call)',
    method: 'tools/call',
    params: { name: 'echo', arguments: { text: 'hello' } },
    targetMs: 2,
  },
]

/** @typedef {(method: string, params: object) => Promise<any>} Ask */

/**
 * A client of one server, as small as it can be.
 * @param {readonly string[]} words
 * @param {string} folder
 * @returns {Promise<{ ask: Ask, close: () => Promise<void> }>}
 */
async function connect(words, folder) {
  const { PATH } = process.env
  const child = spawn(process.execPath, words, {
    cwd: folder,
    env: { PATH, HOME: folder },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  /** @type {Map<number, (answer: any) => void>} */
  const waiting = new Map()
  let last = 0
  createInterface({ input: child.stdout }).on('line', (line) => {
    const answer = JSON.parse(line)
    waiting.get(answer.id)?.(answer)
    waiting.delete(answer.id)
  })
  /** @type {Ask} */
  const ask = async (method, params) => {
    last += 1
    const id = last
    const answered = new Promise((resolve) => waiting.set(id, resolve))
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
    const { result, error } = await answered
    if (result === undefined || result.isError === true)
      throw new Error(`${method} failed: ${JSON.stringify(error ?? result)}`)
    return result
  }
  const client = { name: 'bench', version: '1' }
  await ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: client })
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`)
  for (const list of ['tools/list', 'prompts/list']) await ask(list, {})
  const close = async () => {
    const ended = new Promise((resolve) => child.on('exit', resolve))
    child.stdin.end()
    // The server alone ends with its input, and so does the gateway.
    await ended
  }
  return { ask, close }
}

/**
 * @param {Ask} ask
 * @param {{ method: string, params: object }} request
 */
async function timed(ask, { method, params }) {
  const started = performance.now()
  await ask(method, params)
  return performance.now() - started
}

/** @param {{ quick: boolean, check: boolean }} options */
export async function benchGateway({ quick, check }) {
  const calls = quick ? 500 : 3_000
  const folder = mkdtempSync(join(tmpdir(), 'cordon-bench-gateway-'))
  writeFileSync(join(folder, 'tools.yaml'), '"*": {}\n')
  const grants = ['--read', SERVER, '--preset', 'toolchains']
  const gateway = await connect([CORDON, 'mcp', '--tools', 'tools.yaml', ...grants, '--', 'node', SERVER], folder)
  const alone = await connect([SERVER], folder)
  process.stdout.write(
    `requests to an MCP server, in ms (${calls} each, in turns, after ${calls / 10} to warm up; ` +
      `load ${loadavg()[0]?.toFixed(1)} on ${availableParallelism()} processors)\n\n` +
      '                                        alone p50  gateway p50    added p10    added p50    added p95   ratio\n',
  )
  let met = true
  for (const request of REQUESTS) {
    for (let at = 0; at < calls / 10; at += 1) for (const { ask } of [alone, gateway]) await timed(ask, request)
    /** @type {number[]} */
    const bare = []
    /** @type {number[]} */
    const relayed = []
    for (let at = 0; at < calls; at += 1) {
      bare.push(await timed(alone.ask, request))
      relayed.push(await timed(gateway.ask, request))
    }
    const [before, after] = [bare, relayed].map((values) => percentile(values, 0.5))
    const added = relayed.map((value, at) => value - (bare[at] ?? 0))
    const [p10, p50, p95] = [0.1, 0.5, 0.95].map((share) => percentile(added, share))
    const ratio = (Number(after) / Number(before)).toFixed(1)
    const figures = [before, after, p10, p50, p95].map((value) => Number(value).toFixed(2).padStart(13)).join('')
    process.stdout.write(`  ${request.title.padEnd(34)}${figures}${ratio.padStart(8)} ×\n`)
    if (!(Number(p50) <= request.targetMs)) met = false
  }
  await Promise.all([gateway.close(), alone.close()])
  rmSync(folder, { recursive: true, force: true })
  const targets = REQUESTS.map(({ title, targetMs }) => `${title} at most ${targetMs} ms`).join(', ')
  process.stdout.write(`\ntarget: added p50 of ${targets}: ${met ? 'met' : 'missed'}\n`)
  if (check && !met) process.exitCode = 1
}
