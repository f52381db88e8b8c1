// The fix for the operator of a call that failed for lack of a grant: a line of the policy.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { processTool, tool } from '../../src/runtime/index.js'
import type { Cordon } from '../../src/runtime/index.js'

import { linkPackages } from '../../../../test/repository.js'
import { asWritten, openStage } from './stage.js'

const { newFolder, cordon } = openStage()
const workspace = newFolder()
mkdirSync(join(workspace, 'data'))
writeFileSync(join(workspace, 'data', 'words'), 'words\n')
writeFileSync(join(workspace, 'helper.mjs'), 'export const f = () => 1\n')
writeFileSync(join(workspace, 'mine.yaml'), 'filesystem: { write: [ . ] }\n')
linkPackages(workspace, 'cordon')

const IMPORT =
  "import Node's own modules inside the function (await import('node:fs')); for files or packages of yours " +
  "use module: new URL('./helper.mjs', import.meta.url), export: 'f'"
const EXEC = ['env', 'sh', '-c', 'echo ran']

describe.each(['namespaces', 'landlock'] as const)('the fix of a failed call (%s)', (form) => {
  let opened: Promise<Cordon> | undefined
  const call = async (name: string, input: unknown = {}) => {
    opened ??= cordon({
      workspace,
      sandbox: { form },
      ownFiles: { readOnly: [join(workspace, 'mine.yaml')] },
      tools: [
        processTool({ name: 'curl', command: () => ['curl', '-sS', 'https://host.invalid/'] }),
        processTool({ name: 'resolve', command: () => ['getent', 'hosts', 'host.invalid'] }),
        processTool({ name: 'address', command: () => ['bash', '-c', 'echo > /dev/tcp/192.0.2.1/81'] }),
        processTool({ name: 'list', command: () => ['ls', 'data'] }),
        processTool({ name: 'listed', policy: { filesystem: { read: ['.'] } }, command: () => ['ls', 'data'] }),
        processTool({
          name: 'read',
          policy: { filesystem: { read: ['helper.mjs'] } },
          command: () => ['cat', 'data/words'],
        }),
        processTool({
          name: 'granted',
          policy: { filesystem: { read: ['data/words'] } },
          command: () => ['cat', 'data/words'],
        }),
        processTool({ name: 'start', policy: { exec: 'none' }, command: () => EXEC }),
        processTool({ name: 'started', policy: { exec: ['/usr/bin/sh'] }, command: () => EXEC }),
        processTool({
          name: 'own',
          policy: { filesystem: { write: ['.'] } },
          command: () => ['sh', '-c', 'echo x > mine.yaml'],
        }),
        processTool({ name: 'status', command: () => ['sh', '-c', 'exit 3'] }),
        processTool({
          name: 'status-of-granted',
          policy: { filesystem: { read: ['data'] } },
          command: () => ['sh', '-c', 'exit 3'],
        }),
        tool({ name: 'helper', run: asWritten("async () => (await import('./helper.mjs')).f()") }),
        tool({ name: 'package', run: asWritten("async () => (await import('yaml')).parse('a: 1')") }),
        tool({ name: 'module', module: join(workspace, 'helper.mjs'), export: 'f' }),
      ],
    })
    const { status, facts } = await (await opened).call(name, input)
    return { status, fix: facts.error?.fix ?? null, message: facts.error?.message ?? '' }
  }

  test('names the host to grant if a lookup was refused, and no resolver', async () => {
    const { fix, message } = await call('curl')
    expect(`${message} ${fix ?? ''}`).not.toContain('refused connection')
    // The keeper hears the name in the form with a resolver of its own.
    if (form === 'namespaces')
      for (const answer of [fix, (await call('resolve')).fix])
        expect(answer).toBe("if that is intended, add to the policy of the tool: network: ['host.invalid']")
    expect((await call('address')).fix).toBe(
      "if that is intended, add to the policy of the tool: network: ['192.0.2.1:81']",
    )
  })

  test('says that an argument or the workspace is not granted, and a tool with the grant runs', async () => {
    const expected = {
      namespaces: `${workspace}/data is not granted to this tool: policy: { filesystem: { read: ['data'] } }`,
      landlock: "if that is intended, add to the policy of the tool: filesystem: { read: ['data'] }",
    }
    expect((await call('list')).fix).toBe(expected[form])
    expect(await call('listed')).toMatchObject({ status: 'ok' })
    expect(await call('status')).toMatchObject({
      status: 'failed',
      fix: "the workspace is not granted to this tool: policy: { filesystem: { read: ['.'] } }",
    })
    expect(await call('status-of-granted')).toMatchObject({ status: 'failed', fix: null })
  })

  test('is the exact line for a file or a program, and a tool with that line runs', async () => {
    expect((await call('read')).fix).toBe(
      "if that is intended, add to the policy of the tool: filesystem: { read: ['data/words'] }",
    )
    expect(await call('granted')).toMatchObject({ status: 'ok' })
    expect((await call('start')).fix).toBe("if that is intended, add to the policy of the tool: exec: ['/usr/bin/sh']")
    expect(await call('started')).toMatchObject({ status: 'ok' })
  })

  test('never suggests a grant of a file that is withheld from every tool', async () => {
    expect((await call('own')).fix).toBe(
      `${workspace}/mine.yaml is a file of Cordon itself (named in ownFiles): no tool may change it; see ` +
        'docs/own-files.md',
    )
  })

  test('names the module form for a function that imports its own files or packages, and that form works', async () => {
    expect((await call('helper')).fix).toBe(IMPORT)
    expect((await call('package')).fix).toBe(IMPORT)
    expect(await call('module')).toMatchObject({ status: 'ok' })
  })
})
