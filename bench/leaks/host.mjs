// One host process. argv: task, directory, calls, calls in flight, contestants.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import path from 'node:path'
import { findContestants } from '../contestants/index.mjs'
import { messageOf } from '../contestants/runner.mjs'
import { spawnAndWait } from '../contestants/spawn.mjs'

const [task = '', directory = '', calls, inFlight, contestants = ''] = process.argv.slice(2)
// Node itself keeps a few descriptors from its first child on.
await spawnAndWait(['/bin/true'], {})
const descriptorsBefore = countDescriptors()
// Next to the directory, not in it: what peers need while they run is not a call's leftover.
const scratch = mkdtempSync(path.join(path.dirname(directory), 'host-'))
const { entrants, absent } = await findContestants({
  names: new Set(contestants.split(',')),
  peers: undefined,
  scratch,
  trial: { argv: ['/bin/true'], cwd: directory },
})
for (const { name, reason } of absent) process.stderr.write(`${name} did not run: ${reason}\n`)
if (entrants.length === 0) process.exit(2)

if (task === 'hammer') await hammer()
else await hold()

async function hammer() {
  const jobs = [
    shell('true'),
    shell('f=$(mktemp ./own-XXXXXX); echo text > $f; read line < $f; rm $f; test "$line" = text'),
    // Daemons that nobody waits for.
    shell('setsid sh -c "sleep 1000 & sleep 1000" > /dev/null 2>&1 < /dev/null & exit 0'),
  ]
  const runners = await Promise.all(entrants.flatMap(({ contestant }) => jobs.map((job) => contestant.open(job))))
  /** @type {string[]} */
  const failures = []
  let made = 0
  const lane = async () => {
    while (made < Number(calls)) {
      const runner = runners[made % runners.length]
      made += 1
      await runner?.sample().catch((error) => failures.push(messageOf(error)))
    }
  }
  await Promise.all(Array.from({ length: Number(inFlight) }, lane))
  await Promise.all(runners.map((runner) => runner.close()))
  await Promise.all(entrants.map(({ contestant }) => contestant.close()))
  rmSync(scratch, { recursive: true })
  // Closing is asynchronous down in libuv; a leak is what is still there after that.
  await new Promise((resolve) => setTimeout(resolve, 300))
  process.send?.({ made, failures, descriptors: countDescriptors() - descriptorsBefore }, () => process.exit())
}

async function hold() {
  const job = shell('setsid sleep 1000 > /dev/null 2>&1 < /dev/null & exec sleep 1000')
  const runners = await Promise.all(entrants.map(({ contestant }) => contestant.open(job)))
  const running = Array.from({ length: Number(inFlight) }, (_, index) => runners[index % runners.length]?.sample())
  await Promise.allSettled(running)
}

/**
 * @param {string} script
 * @returns {import('../contestants/runner.mjs').Job}
 */
function shell(script) {
  return { argv: ['/bin/sh', '-c', script], cwd: directory }
}

function countDescriptors() {
  return readdirSync('/proc/self/fd').length
}
