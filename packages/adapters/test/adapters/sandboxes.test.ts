// The sandbox interfaces of SDKs: commands and files in cells with one policy. What an interface asks and a cell does
// not have is refused.
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

import { Manifest, dir, file, gitRepo } from '@openai/agents/sandbox'
import type { SandboxSession } from '@openai/agents/sandbox'
import { generateText, isStepCount, tool } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { afterEach, describe, expect, test } from 'vitest'
import { z } from 'zod'

import { newerNode } from '../../../../scripts/tests/mcp-programs.mjs'
import { sdkModules, SDK_PACKAGES } from '../../../../scripts/tests/sdk-programs.mjs'
import { aiSandbox } from '@cordon/adapters/ai-sandbox'
import type { CellOptions } from '@cordon/adapters/ai-sandbox'
import { mastraSandbox } from '@cordon/adapters/mastra-sandbox'
import { openaiSandbox } from '@cordon/adapters/openai-sandbox'
import { needs } from '../../../../test/requirement.js'
import { openStage } from '../../../core/test/runtime/stage.js'
import { IN_MATRIX } from '../../../../test/turns.js'
import { runExample, runExampleWith } from './notes.js'

const stage = openStage()
const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

/** A workspace whose folder `in` can be read, and whose folder `out` can be written. A secret lies beside them. */
const place = (more: Partial<CellOptions> = {}) => {
  const workspace = stage.newFolder()
  for (const name of ['in', 'out', 'hidden']) mkdirSync(join(workspace, name))
  writeFileSync(join(workspace, 'in/fruit'), 'pear\napple\nplum\n')
  writeFileSync(join(workspace, 'hidden/secret'), 'a secret\n')
  const policy = { filesystem: { read: ['in'], write: ['out'] } }
  const at = (path: string): string => join(workspace, path)
  return { at, options: { workspace, policy, ruleFiles: 'none', ...more } satisfies CellOptions }
}

const openAi = async (more: Partial<CellOptions> = {}) => {
  const { options, at } = place(more)
  const sandbox = await aiSandbox(options)
  closing.push(sandbox.close)
  return { sandbox, at }
}

const textOf = async (stream: ReadableStream<Uint8Array>): Promise<string> => new Response(stream).text()

test('the example of ai-sandbox ends as its page says', () => {
  expect(runExample('ai-sandbox')).toMatchObject({ status: 0 })
})

test('the example of openai-sandbox ends as its page says', IN_MATRIX, () => {
  expect(runExample('openai-sandbox')).toMatchObject({ status: 0 })
})

test('the example of mastra-sandbox ends as its page says, with Node 22', IN_MATRIX, (context) => {
  const [modules, node] = [sdkModules('mastra'), newerNode()]
  needs(
    context,
    modules !== undefined && node !== undefined,
    `npm did not install ${SDK_PACKAGES.mastra} or a newer Node`,
  )
  expect(runExampleWith(modules ?? '', 'mastra-sandbox', node)).toMatchObject({ status: 0 })
})

describe('the sandbox for the AI SDK', () => {
  test('runs a command in a cell: it writes where the policy says, and reads nothing else', async () => {
    const { sandbox, at } = await openAi()
    const ran = await sandbox.run({ command: 'cat in/fruit hidden/secret; echo made > out/made; exit 3' })
    expect(ran).toMatchObject({ exitCode: 3, stdout: 'pear\napple\nplum\n' })
    expect(readFileSync(at('out/made'), 'utf8')).toBe('made\n')
  })

  test('runs a command in a folder, with variables', async () => {
    const { sandbox } = await openAi()
    const command = 'cat fruit | head -1; echo "$WORD"'
    const { stdout } = await sandbox.run({ command, workingDirectory: 'in', env: { WORD: `it's "x"` } })
    expect(stdout).toBe(`pear\nit's "x"\n`)
  })

  test('a rule denies a command, and another one runs', async () => {
    const rules = [{ rules: [{ effect: 'deny', command: 'rm', because: 'we keep files' }] }] as const
    const { sandbox, at } = await openAi({ rules })
    writeFileSync(at('out/made'), '')
    await expect(sandbox.run({ command: 'cd out && rm made' })).rejects.toThrow('we keep files')
    expect(existsSync(at('out/made'))).toBe(true)
    expect(await sandbox.run({ command: 'ls out' })).toMatchObject({ stdout: 'made\n' })
  })

  test('reads and writes files as the policy says', async () => {
    const { sandbox, at } = await openAi()
    expect(await sandbox.readTextFile({ path: 'in/fruit', startLine: 2, endLine: 9 })).toBe('apple\nplum\n')
    expect(await sandbox.readBinaryFile({ path: at('in/missing') })).toBeNull()
    const bytes = new Uint8Array([0, 255, 10, 200])
    await sandbox.writeBinaryFile({ path: 'out/deep/er/bytes', content: bytes })
    expect(new Uint8Array(readFileSync(at('out/deep/er/bytes')))).toEqual(bytes)
    await sandbox.writeFile({ path: 'out/streamed', content: new Blob(['pear']).stream() })
    expect(await textOf((await sandbox.readFile({ path: 'out/streamed' })) ?? new ReadableStream())).toBe('pear')
  })

  test('refuses files outside of the policy, also through a link', async () => {
    const { sandbox, at } = await openAi()
    symlinkSync(at('hidden/secret'), at('in/link'))
    for (const path of ['hidden/secret', 'in/../hidden/secret', '/etc/shadow', 'in/link'])
      await expect(sandbox.readTextFile({ path })).rejects.toThrow()
    for (const path of ['in/fruit', 'hidden/made', '/tmp/made-by-a-sandbox'])
      await expect(sandbox.writeTextFile({ path, content: 'x' })).rejects.toThrow()
    expect(readFileSync(at('in/fruit'), 'utf8')).toContain('pear')
  })

  test('refuses a file in a folder that may not be entered, and does not call it absent', async () => {
    const { sandbox, at } = await openAi()
    mkdirSync(at('in/locked'))
    writeFileSync(at('in/locked/file'), 'x')
    chmodSync(at('in/locked'), 0)
    for (const path of ['in/locked/file', 'in/locked/deep/er']) {
      await expect(sandbox.readTextFile({ path })).rejects.toThrow()
      await expect(sandbox.stat({ path })).rejects.toThrow()
      await expect(sandbox.listDirectory({ path })).rejects.toThrow()
    }
    chmodSync(at('in/locked'), 0o755)
    expect(await sandbox.readTextFile({ path: 'in/locked/file' })).toBe('x')
    expect(await sandbox.readTextFile({ path: 'in/locked/deep/er' })).toBeNull()
    expect(await sandbox.deleteFile({ path: 'out/deep/er' })).toBe(false)
  })

  test('lists, describes and deletes', async () => {
    const { sandbox, at } = await openAi()
    mkdirSync(at('in/sub'))
    symlinkSync('fruit', at('in/link'))
    const found = await sandbox.listDirectory({ path: 'in' })
    expect(found?.map(({ name, type }) => `${name} ${type}`).sort()).toEqual([
      'fruit file',
      'link symlink',
      'sub directory',
    ])
    expect(await sandbox.stat({ path: 'in/link' })).toEqual({ type: 'file', size: 16 })
    expect(await sandbox.stat({ path: 'in/missing' })).toBeNull()
    await sandbox.writeTextFile({ path: 'out/made', content: 'x' })
    expect(await sandbox.deleteFile({ path: 'out/made' })).toBe(true)
    expect(await sandbox.deleteFile({ path: 'out/made' })).toBe(false)
    await expect(sandbox.deleteFile({ path: 'out' })).rejects.toThrow()
  })

  test('streams the output of a process, and kills it', async () => {
    const { sandbox } = await openAi()
    const process = await sandbox.spawn({ command: 'echo one; exec sleep 600' })
    const { value } = await process.stdout.getReader().read()
    expect(Buffer.from(value ?? []).toString()).toBe('one\n')
    await process.kill()
    expect(await process.wait()).toEqual({ exitCode: 137 })
    expect(await (await sandbox.spawn({ command: 'exit 4' })).wait()).toEqual({ exitCode: 4 })
  })

  test('refuses a process with open stdin by name', async () => {
    const { sandbox, at } = await openAi()
    await expect(sandbox.spawn({ command: 'touch out/made', stdin: true })).rejects.toThrow('no open stdin')
    expect(existsSync(at('out/made'))).toBe(false)
  })

  test('is what tools get from the SDK', async () => {
    const { sandbox } = await openAi()
    const run = tool({
      inputSchema: z.object({ command: z.string() }),
      execute: async ({ command }, { experimental_sandbox: given }) => (await given?.run({ command }))?.stdout ?? '',
    })
    const usage = { inputTokens: {}, outputTokens: {} } as never
    const call = { type: 'tool-call' as const, toolCallId: 'c', toolName: 'run', input: '{"command":"ls in"}' }
    let replies = 0
    const model = new MockLanguageModelV4({
      doGenerate: () => {
        replies += 1
        const content = replies === 1 ? call : { type: 'text' as const, text: 'done' }
        const unified = replies === 1 ? ('tool-calls' as const) : ('stop' as const)
        return Promise.resolve({ content: [content], finishReason: { unified, raw: undefined }, usage, warnings: [] })
      },
    })
    const { steps } = await generateText({
      model,
      tools: { run },
      prompt: 'go',
      stopWhen: isStepCount(2),
      experimental_sandbox: sandbox,
    })
    expect(steps[0]?.toolResults.map(({ output }) => output)).toEqual(['fruit\n'])
  })
})

describe('the sandbox client for OpenAI Agents', () => {
  const open = async (manifest = new Manifest()) => {
    const { options, at } = place()
    const session = (await openaiSandbox(options).create?.({ manifest })) as SandboxSession
    closing.push(async () => session.close?.())
    return { session, at }
  }

  test('runs a command in a cell with the policy', async () => {
    const { session, at } = await open()
    const told = await session.execCommand?.({ cmd: 'cat fruit ../hidden/secret; echo x > ../out/made', workdir: 'in' })
    expect(told).toContain('Process exited with code 0\nOutput:\npear')
    expect(told).not.toContain('a secret')
    expect(existsSync(at('out/made'))).toBe(true)
    expect(await session.exec?.({ cmd: 'exit 5' })).toMatchObject({ exitCode: 5 })
  })

  test('writes the files of a manifest where the policy allows it, and nowhere else', async () => {
    const inside = new Manifest({ entries: { out: dir({ children: { note: file({ content: 'pear' }) } }) } })
    const { session, at } = await open(inside)
    expect(readFileSync(at('out/note'), 'utf8')).toBe('pear')
    expect(session.state.manifest.root).toBe(at('').replace(/\/$/, ''))
    await expect(open(new Manifest({ entries: { note: file({ content: 'pear' }) } }))).rejects.toThrow()
  })

  test('patches files as the policy says', async () => {
    const { session, at } = await open()
    const editor = session.createEditor?.()
    await editor?.createFile({ type: 'create_file', path: 'out/note', diff: '+pear\n+plum\n' })
    await editor?.updateFile({ type: 'update_file', path: 'out/note', diff: ' pear\n-plum\n+apple\n', moveTo: 'out/b' })
    expect(readFileSync(at('out/b'), 'utf8')).toContain('pear\napple')
    expect(existsSync(at('out/note'))).toBe(false)
    await expect(editor?.deleteFile({ type: 'delete_file', path: 'in/fruit' })).rejects.toThrow()
    expect(existsSync(at('in/fruit'))).toBe(true)
  })

  test('reads files and folders as the policy says', async () => {
    const { session } = await open()
    expect(Buffer.from((await session.readFile?.({ path: 'in/fruit', maxBytes: 4 })) ?? '').toString()).toBe('pear')
    await expect(session.readFile?.({ path: 'hidden/secret' })).rejects.toThrow()
    expect(await session.listDir?.({ path: 'in' })).toEqual([{ name: 'fruit', path: 'in/fruit', type: 'file' }])
    expect(await session.pathExists?.('in/missing')).toBe(false)
    expect(await session.directoryExists?.('in')).toBe(true)
  })

  test('refuses by name what a cell does not have', async () => {
    const { session } = await open()
    await expect(session.resolveExposedPort?.(80)).rejects.toThrow('no published port 80')
    await expect(session.exec?.({ cmd: 'true', tty: true })).rejects.toThrow('no terminal')
    await expect(session.exec?.({ cmd: 'true', runAs: 'ann' })).rejects.toThrow('no user of its own')
    await expect(session.writeStdin?.({ sessionId: 1 })).rejects.toThrow('no process that keeps running')
    await expect(session.persistWorkspace?.()).rejects.toThrow('no snapshot')
    const { options } = place()
    await expect(openaiSandbox(options).create?.({ snapshot: { type: 'local' } })).rejects.toThrow('no snapshot')
    const repo = new Manifest({ entries: { out: gitRepo({ repo: 'a/b' }) } })
    await expect(open(repo)).rejects.toThrow('no entry of the type git_repo')
  })
})

describe('the sandbox for Mastra', () => {
  const open = async () => {
    const { options, at } = place()
    const sandbox = await mastraSandbox(options)
    closing.push(sandbox.destroy)
    return { sandbox, at }
  }

  test('runs a command in a cell with the policy', async () => {
    const { sandbox } = await open()
    const parts: string[] = []
    const ran = await sandbox.executeCommand('cat', ['in/fruit', 'hidden/secret'], {
      onStdout: (text) => parts.push(text),
    })
    expect(ran).toMatchObject({ success: false, exitCode: 1, stdout: 'pear\napple\nplum\n' })
    expect(parts.join('')).toBe(ran.stdout)
    expect(await sandbox.executeCommand('echo', [`it's`])).toMatchObject({ success: true, stdout: `it's\n` })
  })

  test('kills a command at its timeout', async () => {
    const { sandbox } = await open()
    expect(await sandbox.executeCommand('sleep 600', [], { timeout: 300 })).toMatchObject({
      success: false,
      timedOut: true,
      exitCode: 124,
    })
  })

  test('writes files as the policy says', async () => {
    const { sandbox, at } = await open()
    await sandbox.writeFiles([{ path: 'out/a', content: 'pear' }])
    expect(readFileSync(at('out/a'), 'utf8')).toBe('pear')
    await expect(sandbox.writeFiles([{ path: 'in/a', content: 'pear' }])).rejects.toThrow()
  })

  test('refuses by name what a cell does not have', async () => {
    const { sandbox } = await open()
    await expect(sandbox.snapshot()).rejects.toThrow('no snapshot')
    await expect(sandbox.writeFiles([{ path: 'out/a', content: '', mode: 0o600 }])).rejects.toThrow(
      'no file with a mode',
    )
    expect(sandbox).not.toHaveProperty('processes')
    expect(sandbox).not.toHaveProperty('networking')
  })

  test('is what a workspace of Mastra runs commands with', IN_MATRIX, async (context) => {
    const modules = sdkModules('mastra')
    needs(context, modules !== undefined, `npm did not install ${SDK_PACKAGES.mastra}`)
    const entry = pathToFileURL(join(modules ?? '', '@mastra/core/dist/workspace/index.js')).href
    const { Workspace } = (await import(/* @vite-ignore */ entry)) as {
      Workspace: new (options: object) => { readonly init: () => Promise<void>; readonly sandbox: typeof sandbox }
    }
    const { sandbox } = await open()
    const workspace = new Workspace({ sandbox })
    await workspace.init()
    expect(await workspace.sandbox.executeCommand('ls in')).toMatchObject({ stdout: 'fruit\n' })
  })
})
