// npm run bench: Cordon, bare child_process.spawn and every peer found here, measured in turns.
import { readFileSync, writeFileSync } from 'node:fs'
import { messageOf } from './contestants/runner.mjs'
import { benchDecide } from './decide.mjs'
import { benchEgress } from './egress.mjs'
import { benchGateway } from './gateway.mjs'
import { benchHostile } from './hostile.mjs'
import { benchManifest } from './manifest.mjs'
import { HELP, parseOptions } from './options.mjs'
import { drawChart } from './report/chart.mjs'
import { createProgress } from './report/progress.mjs'
import { formatReport } from './report/table.mjs'
import { checkTargets } from './report/targets.mjs'
import { runBench } from './run.mjs'
import { benchStore } from './store.mjs'
import { benchSustained } from './sustain.mjs'
import { benchTools } from './tools.mjs'
import { benchWalls } from './walls.mjs'

/** @param {import('./options.mjs').Options} options */
async function main(options) {
  if (options.help) {
    process.stdout.write(HELP)
    return
  }
  if (options.decide) {
    await benchDecide(options)
    return
  }
  if (options.egress) {
    await benchEgress(options)
    return
  }
  if (options.gateway) {
    await benchGateway(options)
    return
  }
  if (options.eslint) {
    const { benchEslint } = await import('./eslint.mjs')
    await benchEslint(options)
    return
  }
  if (options.hostile) {
    await benchHostile(options)
    return
  }
  if (options.manifest) {
    benchManifest(options)
    return
  }
  if (options.store) {
    await benchStore(options)
    return
  }
  if (options.tools) {
    await (options.sustain > 0 ? benchSustained(options) : benchTools(options))
    return
  }
  if (options.walls) {
    await benchWalls(options)
    return
  }
  const report = options.from === undefined ? await measure(options) : readReport(options.from)
  process.stdout.write(formatReport(report))
  if (options.json !== undefined) writeFileSync(options.json, JSON.stringify(report, undefined, 2) + '\n')
  if (options.svg !== undefined) writeFileSync(options.svg, drawChart(report))
  if (!options.check) return
  const { text, met } = checkTargets(report)
  process.stdout.write(`\n${text}`)
  if (!met) process.exitCode = 1
}

/** @param {import('./options.mjs').Options} options */
async function measure(options) {
  const progress = createProgress()
  try {
    return await runBench(options, progress.of)
  } finally {
    progress.end()
  }
}

/**
 * @param {string} file
 * @returns {import('./run.mjs').Report}
 */
function readReport(file) {
  return JSON.parse(readFileSync(file, 'utf8'))
}

try {
  await main(parseOptions(process.argv.slice(2)))
} catch (error) {
  process.stderr.write(`bench: ${messageOf(error)}\n`)
  process.exitCode = 2
}
// A peer's library may hold the process open; everything measured is written by now.
process.exit()
