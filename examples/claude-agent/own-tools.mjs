// The agent's own tools, which Cordon decides by a hook: one command, one file outside of the project.
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { query } from '@anthropic-ai/claude-agent-sdk'
import { createCordon } from 'cordon'
import { claudeAgent } from '@cordon/adapters/claude-agent'

import { startProvider } from '../notes/provider.mjs'

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'cordon-example-')))
const [workspace, home, secret] = ['project', 'home', 'secret'].map((name) => join(folder, name))
mkdirSync(workspace)
mkdirSync(home)
writeFileSync(secret, 'a secret\n')

const provider = await startProvider([
  { name: 'Bash', input: { command: `cat ${secret}; echo made > note` } },
  { name: 'Read', input: { file_path: secret } },
])
const env = {
  PATH: process.env.PATH,
  HOME: home,
  ANTHROPIC_BASE_URL: provider.url,
  ANTHROPIC_API_KEY: 'none',
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  DISABLE_AUTOUPDATER: '1',
}
const cordon = await createCordon({ workspace, tools: [], ruleFiles: 'none', audit: { path: join(folder, 'audit') } })
try {
  const { options } = claudeAgent(cordon, { workspace })
  // Even a program that allows everything has Cordon before each call.
  const all = { ...options, env, allowedTools: [...options.allowedTools, 'Bash', 'Read'] }
  for await (const message of query({ prompt: 'Read the secret.', options: all })) void message
  const [ran, read] = provider.heard
  const made = readFileSync(join(workspace, 'note'), 'utf8')
  const isRight = made === 'made\n' && !ran.includes('a secret') && read.includes('may not read')
  console.log(
    `${isRight ? 'as expected' : 'WRONG'}: a command runs in a cell, and no tool reads outside of the project`,
  )
  if (!isRight) console.log(JSON.stringify({ made, ran, read }))
  process.exitCode = isRight ? 0 : 1
} finally {
  await cordon.close()
  provider.close()
  rmSync(folder, { recursive: true, force: true })
}
