// `cordon demo`: an attack across tools. A page that web_search finds tells the model to send the user's key away with
// bash. The model obeys. Every step really runs.
import { join } from 'node:path'

import { pathRead, pathWrite, text } from '../../gate/index.js'
import { parseAbsolutePath, parsePolicy, resolvePolicy } from '../../policy/index.js'
import { createCordon, processTool, tool } from '../../runtime/index.js'
import type { Cordon, ToolDefinition, ToolResult } from '../../runtime/index.js'
import { describeViolation, openSandbox } from '../../sandbox/index.js'

import type { CommandLine } from '../../line/caller.js'
import { STDOUT, oneLine, paintFor, writeText } from '../../line/text/console-text.js'
import type { Paint } from '../../line/text/console-text.js'
import { setStage } from './demo-stage.js'
import type { Stage } from './demo-stage.js'

export const demo = async ({ environment }: CommandLine): Promise<number> => {
  const stage = await setStage()
  const cordon = await createCordon({
    tools: toolsOf(stage),
    workspace: stage.workspace,
    home: stage.home,
    mode: 'on_request',
    audit: { path: join(stage.home, '.local', 'state', 'cordon', 'audit.jsonl') },
  })
  try {
    return await tellStory(cordon, stage, paintFor(STDOUT, environment))
  } finally {
    await cordon.close()
    await stage.leave()
  }
}

/** Four tools, each with the grants that it needs. */
const toolsOf = ({ web }: Stage): readonly ToolDefinition[] => [
  tool({
    name: 'web_search',
    description: 'Searches the web',
    input: { type: 'object', properties: { query: text() }, required: ['query'] },
    // The attacker wrote one of the results.
    policy: { filesystem: { read: [web] }, environment: [`WEB=${web}`] },
    run: async () =>
      JSON.parse(await (await import('node:fs/promises')).readFile(process.env['WEB'] ?? '', 'utf8')) as unknown,
  }),
  tool({
    name: 'read_file',
    description: 'Reads a file of the project',
    input: { type: 'object', properties: { path: pathRead() }, required: ['path'] },
    policy: { filesystem: { read: ['.'] } },
    run: async ({ path }: { path: string }) => (await import('node:fs/promises')).readFile(path, 'utf8'),
  }),
  tool({
    name: 'write_file',
    description: 'Writes a file of the project',
    input: { type: 'object', properties: { path: pathWrite(), text: text() }, required: ['path', 'text'] },
    policy: { filesystem: { write: ['.'] } },
    run: async ({ path, text: content }: { path: string; text: string }) =>
      (await import('node:fs/promises')).writeFile(path, content),
  }),
  processTool({
    name: 'bash',
    description: 'Runs a command in the project',
    input: { type: 'object', properties: { command: text() }, required: ['command'] },
    policy: { filesystem: { write: ['.'] }, network: 'none', limits: { wall: '20s' } },
    command: ({ command }: { command: string }) => ['bash', '-c', command],
  }),
]

const tellStory = async (cordon: Cordon, stage: Stage, paint: Paint): Promise<number> => {
  const { attacker, key, workspace, home } = stage
  const say = (text: string) => {
    writeText(STDOUT, `${text}\n`)
  }
  let broken = 0
  const check = (claim: string, holds: boolean) => {
    broken += holds ? 0 : 1
    say(`     ${holds ? paint('green', 'holds') : paint('red', 'BROKEN')}  ${claim}`)
  }
  const call = async (name: string, input: object): Promise<ToolResult> => {
    const result = await cordon.call(name, input)
    const words = result.reason ?? oneLine(JSON.stringify(result.output ?? null)).slice(0, 100)
    say(
      `   ${paint('bold', name)}(${oneLine(JSON.stringify(input)).slice(0, 90)})\n     → ` +
        `${paint(result.status === 'ok' ? 'green' : 'red', result.status)}: ${words}`,
    )
    return result
  }

  say(paint('bold', '1. An agent works on a project with four tools.'))
  check(
    'write_file writes in the project',
    (await call('write_file', { path: join(workspace, 'parse.py'), text: 'import json\n' })).status === 'ok',
  )
  check(
    'read_file reads it',
    (await call('read_file', { path: join(workspace, 'parse.py') })).output === 'import json\n',
  )

  say(paint('bold', '\n2. It searches the web, and one of the results was written for it.'))
  const found = await call('web_search', { query: 'python JSON parsing tutorial' })
  const results = found.output as readonly { readonly text: string }[] | undefined
  const injected = results?.[1]?.text.replace(/^.*Run: /, '') ?? ''
  check('the result carries the order of an attacker', injected.includes('.ssh/id_rsa'))

  say(paint('bold', '\n3. The model obeys, and calls bash exactly as the attacker wants.'))
  const attack = await call('bash', { command: injected })
  check('nothing arrived at the attacker', attacker.received.length === 0)
  if (attacker.isOutside) check('it is reported as a violation, not as a failure', attack.status === 'violated')
  for (const violation of attack.facts.violations) say(`     ${paint('dim', describeViolation(violation))}`)
  check('the key is nowhere in what the model gets', !JSON.stringify([attack.output, attack.reason]).includes(key))
  await call('read_file', { path: join(home, '.ssh', 'id_rsa') })

  say(paint('bold', '\n4. For comparison, the same command in one sandbox for all tools, as agents have it elsewhere.'))
  await runShared(injected, stage)
  const isStolen = attacker.received.some((body) => body.includes(key))
  broken += isStolen ? 0 : 1
  say(
    isStolen
      ? `     ${paint('red', 'stolen')}  there the attacker has the key: the attack is a real one`
      : `     ${paint('red', 'BROKEN')}  the attack did not work there either, so that it proves nothing`,
  )

  say(paint('bold', '\n5. The record says why.'))
  const { permission_decision: decision, sandbox_profile: profile } = attack.facts
  say(`     decision  ${decision.decision} by ${decision.decision_source}: ${decision.decision_reason}`)
  if (profile?.mode === 'sandboxed') {
    say(
      `     boundary  ${profile.form}; writes ${profile.write_roots.join(', ')}; network ${profile.network.toString()}`,
    )
    say(
      `     enforced  files: ${(profile.enforced['filesystem_read'] ?? []).join(' + ')}; network: ` +
        (profile.enforced['network'] ?? []).join(' + '),
    )
  }
  say(
    broken === 0
      ? paint('green', '\nThe model was fooled. Nothing was lost.')
      : paint('red', `\n${String(broken)} of the claims did not hold; see \`cordon doctor\`.`),
  )
  return broken === 0 ? 0 : 1
}

/** One sandbox with the grants that the four tools need together. It shows that the attack is real. */
const runShared = async (command: string, { home, workspace }: Stage): Promise<void> => {
  const places = { workspace: parseAbsolutePath(workspace), home: parseAbsolutePath(home) }
  const policy = parsePolicy(
    { filesystem: { read: ['~'], write: ['.'] }, network: 'all', environment: [`HOME=${home}`] },
    'demo',
  )
  const sandbox = await openSandbox()
  try {
    await sandbox.run({
      boundary: resolvePolicy(policy, { ...places, kind: 'process' }),
      cwd: workspace,
      argv: ['bash', '-c', command],
    })
  } finally {
    await sandbox.close()
  }
}
