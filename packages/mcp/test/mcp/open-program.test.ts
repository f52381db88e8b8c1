// A program whose input stays open, as an MCP server has it.
import { expect, onTestFinished, test } from 'vitest'

import { parseAbsolutePath, parsePolicy, resolvePolicy } from 'cordon/policy'
import { openSandbox } from 'cordon/sandbox'
import type { OpenProgram } from 'cordon/sandbox'

const ROOT = parseAbsolutePath('/', 'a test')
const boundary = resolvePolicy(parsePolicy({}, 'a test'), { workspace: ROOT, home: ROOT, kind: 'process' })

const start = async (argv: readonly string[]) => {
  const sandbox = await openSandbox({ nursery: 'none' })
  onTestFinished(() => sandbox.close())
  const killing = new AbortController()
  let heard = 0
  let begin: (program: OpenProgram) => void = () => undefined
  const started = new Promise<OpenProgram>((resolve) => {
    begin = resolve
  })
  const onStdout = ({ length }: Uint8Array): void => {
    heard += length
  }
  const ended = sandbox.run({ argv, boundary, cwd: '/', onStdout, onStarted: begin, signal: killing.signal })
  ended.catch(() => undefined)
  return {
    program: await started,
    ended,
    kill: () => {
      killing.abort()
    },
    heard: () => heard,
  }
}

const BYTES = 100 * 1024 * 1024

test('a program that reads none of 100 MB can be killed', async () => {
  const { program, ended, kill } = await start(['sleep', '1000'])
  program.write(Buffer.alloc(BYTES))
  await expect.poll(() => program.waiting()).toBeGreaterThan(0)
  kill()
  await expect(ended).rejects.toMatchObject({ code: 'cancelled' })
})

test('a program that reads all of it gives it back, and ends with its input', async () => {
  const { program, ended, heard } = await start(['cat'])
  program.write(Buffer.alloc(BYTES))
  program.endInput()
  expect(await ended).toMatchObject({ status: 'exited', exitCode: 0 })
  expect(heard()).toBe(BYTES)
})
