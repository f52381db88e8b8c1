// For the examples of sandbox interfaces: a workspace whose notes can be read, whose folder `out` can be written, and
// that has a secret. The model wants one command.
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export const COMMAND = 'cat notes/fruit secret; sort notes/fruit > out/sorted'

/** `run` gives what the model was told about its command. The exit status is 0 only if all was as expected. */
export const checkSandbox = async (run) => {
  const workspace = realpathSync(mkdtempSync(join(tmpdir(), 'cordon-example-')))
  const expect = (claim, isTrue, seen) => {
    console.log(`${isTrue ? 'as expected' : 'WRONG'}: ${claim}${isTrue ? '' : `\n${JSON.stringify(seen)}`}`)
    if (!isTrue) process.exitCode = 1
  }
  try {
    for (const name of ['notes', 'out']) mkdirSync(join(workspace, name))
    writeFileSync(join(workspace, 'notes/fruit'), 'pear\napple\n')
    writeFileSync(join(workspace, 'secret'), 'a secret\n')
    const policy = { filesystem: { read: ['notes'], write: ['out'] } }
    const told = await run({ workspace, policy, ruleFiles: 'none' })
    expect('the command reads the notes', told.includes('pear'), told)
    expect('the command does not read the secret', !told.includes('a secret'), told)
    expect('the command writes where it may', readFileSync(join(workspace, 'out/sorted'), 'utf8') === 'apple\npear\n')
  } catch (error) {
    console.error(error)
    process.exitCode = 1
  } finally {
    rmSync(workspace, { recursive: true, force: true })
  }
}
