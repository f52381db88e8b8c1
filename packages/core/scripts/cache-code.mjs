// Writes the code caches of the bundle: V8's compiled form of what the command line and the library use of
// dist/bundle/main.cjs, for the Node that runs this.
// `npm install cordon` does it once. Without a cache, or with another Node, everything works and starts more slowly.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const { FILE, loadBundle } = createRequire(import.meta.url)('../bin/load-bundle.js')

/**
 * Only functions that ran are in a cache, so each bundle is used first. Where no cell can be made, the way up to there
 * is in the cache.
 */
const USES = {
  'command-line': (parts) => parts['command-line']().dispatch(['run', '--', 'true'], process.env),
  'library': async ({ runtime }) => {
    const { createCordon, processTool, tool } = runtime()
    const tools = [processTool({ name: 'true', command: () => ['/bin/true'] }), tool({ name: 'one', run: () => 1 })]
    const audit = { path: join(process.cwd(), 'log', 'audit.jsonl') }
    const cordon = await createCordon({ tools, workspace: process.cwd(), mode: 'on_request', telemetry: 'off', audit })
    for (const name of ['true', 'one', 'true']) await cordon.call(name)
    await cordon.close()
  },
}

const write = async (name) => {
  const { exports, script, cache } = loadBundle(name)
  await USES[name](exports)
  writeFileSync(`${cache}.new`, script.createCachedData())
  renameSync(`${cache}.new`, cache)
}

const [option, name] = process.argv.slice(2)
if (option === '--here') await write(name)
else
  for (const each of Object.keys(USES)) {
    // In a checkout, dependencies are installed before anything is built.
    if (!existsSync(FILE)) continue
    const home = mkdtempSync(join(tmpdir(), 'cordon-cache-'))
    const env = { PATH: process.env.PATH, HOME: home }
    spawnSync(process.execPath, [fileURLToPath(import.meta.url), '--here', each], { cwd: home, env, stdio: 'ignore' })
    rmSync(home, { recursive: true, force: true })
  }
