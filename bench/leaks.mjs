// Two host processes, thousands of calls, one directory: does anything stay behind? And after a SIGKILL?
import { spawn, spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { fileURLToPath } from 'node:url'
import { findSystemProgram } from './contestants/look-up.mjs'
import { killHost } from './leaks/kill.mjs'
import { hammer } from './leaks/hammer.mjs'

const HELP = `usage: node bench/leaks.mjs [options]

  --calls N       calls of each of the two host processes (2000)
  --in-flight N   calls at once in each (16)
  --with NAMES    contestants that make the calls (cordon-cold,cordon-warm)
`

/**
 * Orphans become children of this process, so that none can hide behind init. Kept over exec, unlike most such
 * settings.
 */
const ADOPT = 'import ctypes, os, sys; ctypes.CDLL(None).prctl(36, 1, 0, 0, 0); os.execv(sys.argv[1], sys.argv[1:])'

/** Lines of trouble per claim. */
const SHOWN = 8

const { values } = parseArgs({
  options: {
    'calls': { type: 'string', default: '2000' },
    'in-flight': { type: 'string', default: '16' },
    'with': { type: 'string', default: 'cordon-cold,cordon-warm' },
    'adopting': { type: 'boolean', default: false },
    'help': { type: 'boolean', default: false },
  },
})

const python = findSystemProgram('python3')
if (values.help) {
  process.stdout.write(HELP)
} else if (values.adopting || python === undefined) {
  process.exitCode = await judge()
} else {
  const self = [process.execPath, fileURLToPath(import.meta.url), ...process.argv.slice(2), '--adopting']
  const { status } = spawnSync(python, ['-c', ADOPT, ...self], { stdio: 'inherit' })
  process.exitCode = status ?? 1
}

async function judge() {
  const plan = {
    calls: Number(values.calls),
    inFlight: Number(values['in-flight']),
    contestants: values.with,
    startHost,
  }
  const findings = [...(await hammer(plan)), ...(await killHost(plan))]
  for (const { claim, trouble } of findings) {
    const lines = trouble.length > SHOWN ? [...trouble.slice(0, SHOWN), `and ${trouble.length - SHOWN} more`] : trouble
    process.stdout.write(
      `${trouble.length === 0 ? 'holds ' : 'BROKEN'}  ${claim}\n${lines.map((line) => `          ${line}\n`).join('')}`,
    )
  }
  if (!values.adopting)
    process.stdout.write('without python3 a process that was orphaned and adopted by init is not seen\n')
  return findings.every(({ trouble }) => trouble.length === 0) ? 0 : 1
}

/**
 * @param {'hammer' | 'hold'} task
 * @param {string} directory
 * @param {{ calls: number, inFlight: number, contestants: string }} plan
 */
function startHost(task, directory, plan) {
  const program = fileURLToPath(new URL('leaks/host.mjs', import.meta.url))
  const words = [task, directory, String(plan.calls), String(plan.inFlight), plan.contestants]
  return spawn(process.execPath, [program, ...words], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
}
