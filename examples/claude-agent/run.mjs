import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

import { checkAgent } from '../notes/check.mjs'

checkAgent(new URL('./agent.mjs', import.meta.url))
const ownTools = fileURLToPath(new URL('./own-tools.mjs', import.meta.url))
const { status } = spawnSync(process.execPath, [ownTools], { stdio: 'inherit', timeout: 120_000 })
if (status !== 0) process.exitCode = 1
