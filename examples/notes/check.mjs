// Runs the agent of an example in several processes, and checks what it did. An agent is a program with two words: what
// to do (`start` or `resume`) and a folder. It keeps its conversation in state.json there, and prints what the model
// was told about its calls, as JSON.
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const TICKET = /cordon-ticket-\d+\.([\w-]+)\.[\w-]+/g

/** The same ticket for another note. Its seal does not fit any more. */
const altered = (text) =>
  text.replaceAll(TICKET, (ticket, payload) => {
    const contents = Buffer.from(payload, 'base64url').toString()
    return ticket.replace(payload, Buffer.from(contents.replaceAll('fruit', 'bread')).toString('base64url'))
  })

/** Prints each check. The exit status is 0 only if all were as expected. */
export const checkAgent = (program) => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'cordon-example-')))
  const state = join(folder, 'state.json')
  const note = (name) => join(folder, 'project', 'notes', name)
  const agent = (what) => {
    const words = [fileURLToPath(program), what, folder]
    const { stdout, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8', timeout: 120_000 })
    const last = stdout.trim().split('\n').at(-1)
    return { stderr, told: last === '' ? [] : JSON.parse(last) }
  }
  const expect = (claim, isTrue, seen) => {
    console.log(`${isTrue ? 'as expected' : 'WRONG'}: ${claim}${isTrue ? '' : `\n${JSON.stringify(seen, null, 2)}`}`)
    if (!isTrue) process.exitCode = 1
  }
  try {
    mkdirSync(join(folder, 'project', 'notes'), { recursive: true })
    writeFileSync(join(folder, 'key'), randomBytes(32), { mode: 0o600 })
    for (const name of ['fruit', 'bread']) writeFileSync(note(name), `${name}: pear\n`)

    const first = agent('start')
    expect('the model reads a note', first.told[0]?.includes('fruit: pear'), first)
    expect('the model reads why it may not read /etc/shadow', first.told[1]?.includes('Denied'), first)
    expect('a person has to decide about the third call, and nothing ran', existsSync(note('fruit')), first)
    if (!existsSync(state)) throw new Error(`the agent kept nothing\n${first.stderr}`)
    const kept = readFileSync(state, 'utf8')

    writeFileSync(state, altered(kept))
    const forged = agent('resume')
    const isWhole = existsSync(note('fruit')) && existsSync(note('bread'))
    expect('an altered ticket runs nothing', isWhole && altered(kept) !== kept, forged)

    writeFileSync(state, kept)
    const second = agent('resume')
    expect('the call goes on in a second process', !existsSync(note('fruit')), second)
    expect('the model reads its result', second.told.at(-1)?.includes('removed'), second)

    writeFileSync(note('fruit'), 'fruit: pear\n')
    writeFileSync(state, kept)
    const again = agent('resume')
    expect('a ticket that was used runs nothing', existsSync(note('fruit')), again)
  } catch (error) {
    console.error(error)
    process.exitCode = 1
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
