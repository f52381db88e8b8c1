// The values of adapters fit the types of SDKs that are not among the dependencies.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { REPOSITORY, linkPackages } from '../../../../test/repository.js'
import { SDK_PACKAGES, sdkModules } from '../../../../scripts/tests/sdk-programs.mjs'
import { needs } from '../../../../test/requirement.js'

const ROOT = REPOSITORY
const CORDON = `import type { Cordon } from 'cordon'\ndeclare const cordon: Cordon\n`

const PROGRAMS = {
  // The server is a class of a package that both have a copy of here.
  'claude-agent': `import { query } from '@anthropic-ai/claude-agent-sdk'
import { claudeAgent } from '@cordon/adapters/claude-agent'
const { mcpServers, ...options } = claudeAgent(cordon, { workspace: '/w' }).options
query({ prompt: mcpServers.cordon.name, options: { ...options, model: 'm' } })
// @ts-expect-error: the types of the SDK are really there
query({ prompt: '', options: { ...options, settings: 1 } })
`,
  'mastra': `import { Agent } from '@mastra/core/agent'
import { Workspace } from '@mastra/core/workspace'
import { mastraTools } from '@cordon/adapters/mastra'
import { mastraSandbox } from '@cordon/adapters/mastra-sandbox'
const workspace = new Workspace({ sandbox: await mastraSandbox({ workspace: '/w', policy: {} }) })
new Agent({ id: 'a', name: 'a', instructions: '', model: 'a/b', tools: mastraTools(cordon), workspace })
// @ts-expect-error: the types of the SDK are really there
new Workspace({ sandbox: { ...workspace.sandbox, executeCommand: 1 } })
`,
}

const WORDS = [
  '--ignoreConfig',
  '--noEmit',
  '--strict',
  '--skipLibCheck',
  '--module',
  'nodenext',
  '--target',
  'es2023',
  '--types',
  'node',
]

const compile = (modules: string, program: string): string => {
  const folder = mkdtempSync(join(tmpdir(), 'cordon-types-'))
  try {
    mkdirSync(join(folder, 'node_modules'))
    for (const each of readdirSync(modules)) symlinkSync(join(modules, each), join(folder, 'node_modules', each))
    linkPackages(folder, 'cordon', '@cordon/adapters')
    writeFileSync(join(folder, 'program.mts'), `${CORDON}${program}`)
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc')
    const words = [tsc, ...WORDS, '--typeRoots', join(ROOT, 'node_modules/@types'), join(folder, 'program.mts')]
    return spawnSync(process.execPath, words, { encoding: 'utf8' }).stdout
  } finally {
    rmSync(folder, { recursive: true })
  }
}

test.for(Object.entries(PROGRAMS))('the values of %s compile, and wrong ones do not', ([name, program], context) => {
  const sdk = name as keyof typeof PROGRAMS
  const modules = sdkModules(sdk)
  needs(context, modules !== undefined, `npm did not install ${SDK_PACKAGES[sdk]}`)
  expect(compile(modules ?? '', program)).toBe('')
})
