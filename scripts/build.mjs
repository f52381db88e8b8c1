// `npm run build`: compiles every package, and makes what each ships. `npm ci` runs it too.
import { spawnSync } from 'node:child_process'

import { BUILD, ROOT } from './tests/checks.mjs'

for (const [name, program, args] of BUILD) {
  const { status } = spawnSync(program, args, { cwd: ROOT, stdio: 'inherit' })
  if (status === 0) continue
  process.stderr.write(`build: ${name} ended with ${status}\n`)
  process.exit(1)
}
