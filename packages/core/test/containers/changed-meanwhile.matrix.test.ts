// Calls whose granted folders another program changes before the tool starts, and calls that are refused for it.
import { linkSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'
import type { TestContext } from 'vitest'

import type { Cordon } from '../../src/runtime/index.js'
import { openStage } from '../runtime/stage.js'

import { engineProblem, makeImageRoot, requireEngine, startEngine } from './engine.js'
import type { TestEngine } from './engine.js'
import { listenBefore } from './listen-before.js'
import { shellTool } from './shell-tool.js'

const problem = engineProblem()
const engine = problem === undefined ? await startEngine() : undefined
const stage = openStage()
const image = engine?.image(makeImageRoot(join(engine.folder, 'root'), ['sh', 'cat', 'sleep'])) ?? ''

const here = (context: TestContext): TestEngine => requireEngine(context, engine, problem)

const opened = async (
  context: TestContext,
  filesystem: Readonly<Record<string, readonly string[]>>,
  socket = here(context).socket,
): Promise<Cordon> => {
  const cordon = await stage.cordon({ tools: [shellTool(image, { filesystem })], containers: { socket } })
  context.onTestFinished(() => cordon.close())
  return cordon
}

const callWith = async (cordon: Cordon, script: string) => {
  const { status, output, facts } = await cordon.call('shell', { script })
  return { status, stdout: (output as { readonly stdout?: string } | undefined)?.stdout, code: facts.error?.code }
}

describe('a container of a refused call', () => {
  test('is removed if a file that is carved out has another name', async (context) => {
    const { left } = here(context)
    const folder = stage.newFolder()
    const [secret, other] = [join(folder, 'secret'), join(folder, 'other')]
    writeFileSync(secret, 'SECRET\n')
    const cordon = await opened(context, { write: [folder], read: [`!${secret}`] })
    linkSync(secret, other)
    for (let calls = 0; calls < 2; calls += 1)
      expect(await callWith(cordon, `cat ${other}`)).toMatchObject({ status: 'not_started', code: 'plan-rejected' })
    rmSync(other)
    expect(await callWith(cordon, 'echo ran')).toMatchObject({ status: 'ok', stdout: 'ran\n' })
    await cordon.close()
    await expect.poll(left, { timeout: 20_000 }).toEqual([])
  })

  test('is removed if the write root has too many protected names', async (context) => {
    const { left, containers } = here(context)
    const folder = stage.newFolder()
    const cordon = await opened(context, { write: [folder] })
    expect(await callWith(cordon, 'echo ran')).toMatchObject({ status: 'ok', stdout: 'ran\n' })
    // The next one waits for its call.
    await expect.poll(() => containers().length, { timeout: 20_000 }).toBe(1)
    for (let names = 0; names <= 1_000; names += 1) {
      mkdirSync(join(folder, String(names)))
      writeFileSync(join(folder, `${names}/.bashrc`), '')
    }
    expect(await callWith(cordon, 'true')).toMatchObject({ status: 'not_started', code: 'plan-rejected' })
    await cordon.close()
    await expect.poll(left, { timeout: 20_000 }).toEqual([])
  })
})

describe('what another program changes while a container is made', () => {
  /** Changes something before the second container starts. In the first one Cordon tries what a cell can enforce. */
  const changing = (context: TestContext, change: () => void): Promise<string> => {
    let starts = 0
    return listenBefore(here(context).socket, stage.newFolder(), (line) => {
      if (line.includes('/start ') && (starts += 1) === 2) change()
    })
  }

  test('is sealed if it is a protected name, and the call runs', async (context) => {
    const folder = stage.newFolder()
    const [sealed, plain] = [join(folder, '.bashrc'), join(folder, 'plain')]
    const socket = await changing(context, () => {
      for (const file of [sealed, plain]) writeFileSync(file, 'as it was\n')
    })
    const cordon = await opened(context, { write: [folder] }, socket)
    const script = `cat ${sealed}; echo changed > ${plain}; echo changed > ${sealed} || echo refused`
    expect(await callWith(cordon, script)).toMatchObject({ status: 'ok', stdout: 'as it was\nrefused\n' })
    expect(readFileSync(sealed, 'utf8')).toBe('as it was\n')
    expect(readFileSync(plain, 'utf8')).toBe('changed\n')
    expect(readdirSync(folder).sort()).toEqual(['.bashrc', 'plain'])
  })

  test('is hidden if it is a folder in the place of one that is carved out, and the call runs', async (context) => {
    const folder = stage.newFolder()
    const [secret, beside] = [join(folder, 'sub/secret'), join(folder, 'sub/beside')]
    mkdirSync(secret, { recursive: true })
    let [starts, isReplaced] = [0, false]
    const onStart = (line: string) => {
      if (line.includes('/start ')) starts += 1
    }
    // The container of the call has its mounts when Cordon sends it the plan of its cell.
    const socket = await listenBefore(here(context).socket, stage.newFolder(), onStart, () => {
      if (starts < 2 || isReplaced) return
      isReplaced = true
      renameSync(secret, join(folder, 'aside'))
      for (const made of [secret, beside]) {
        mkdirSync(made)
        writeFileSync(join(made, 'key'), `KEY ${made}\n`)
      }
    })
    const cordon = await opened(context, { read: [join(folder, 'sub'), `!${secret}`] }, socket)
    const { status, stdout } = await callWith(cordon, `cat ${beside}/key; cat ${secret}/key || echo hidden`)
    expect({ status, stdout }).toEqual({ status: 'ok', stdout: `KEY ${beside}\nhidden\n` })
    expect(isReplaced).toBe(true)
  })
})
