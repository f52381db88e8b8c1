// Crashes in cells and outside, on a machine whose core_pattern starts a program.
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'

import { openSandbox, run } from './facts.mjs'

const CORES = '/tmp/cores'
const CRASH = 'ulimit -c 0 2> /dev/null; kill -SEGV $$'

export const installHandler = () => {
  mkdirSync(CORES)
  chmodSync(CORES, 0o777)
  writeFileSync('/proc/sys/kernel/core_pattern', '|/bin/sh /guest/core-handler.sh %p')
}

const kept = () => readdirSync(CORES).length

const crashOutside = async () => {
  const before = kept()
  spawnSync('/bin/sh', ['-c', CRASH])
  for (let tries = 0; tries < 200 && kept() === before; tries += 1) await pause(50)
  return kept() - before
}

/**
 * The handlers of cells would have been started first: once that of a crash outside has been, they have had their time.
 */
export const crash = async (tell, forms) => {
  const sandbox = await openSandbox({ nursery: 'none' })
  const before = kept()
  for (const form of forms) tell(`a crash in a cell (${form})`, await run(sandbox, {}, ['/bin/sh', '-c', CRASH], form))
  const outside = await crashOutside()
  tell('handlers started', { outside, cells: kept() - before - outside })
  await sandbox.close()
}
