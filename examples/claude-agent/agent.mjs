// An agent with the Claude Agent SDK, whose model is scripted. check.mjs says how it is used.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { query } from '@anthropic-ai/claude-agent-sdk'
import { claudeAgent } from '@cordon/adapters/claude-agent'

import { startProvider } from '../notes/provider.mjs'
import { WANTED, openNotes } from '../notes/runtime.mjs'

const [what, folder] = process.argv.slice(2)
const stateFile = join(folder, 'state.json')
const home = join(folder, 'home')
mkdirSync(home, { recursive: true })

const provider = await startProvider(WANTED.map(({ name, input }) => ({ name: `mcp__cordon__${name}`, input })))
const env = {
  PATH: process.env.PATH,
  HOME: home,
  ANTHROPIC_BASE_URL: provider.url,
  ANTHROPIC_API_KEY: 'none',
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  DISABLE_AUTOUPDATER: '1',
}
const cordon = await openNotes(folder)
const { options, suspended, answer } = claudeAgent(cordon, { workspace: join(folder, 'project'), onAsk: 'suspend' })

let session = {}
if (what === 'resume') {
  const kept = JSON.parse(readFileSync(stateFile, 'utf8'))
  // A fork, so that the checks can resume the same session again.
  session = { resume: kept.session, forkSession: true }
  for (const call of kept.suspended) await answer(call, { kind: 'approve_once', by: 'ann' })
}
let id
for await (const message of query({ prompt: 'Tidy up the notes.', options: { ...options, ...session, env } }))
  id = message.session_id
if (what === 'start') writeFileSync(stateFile, JSON.stringify({ session: id, suspended: suspended() }))
await cordon.close()
provider.close()
console.log(JSON.stringify(provider.heard))
