// Gives messages of Claude Code to the hook that Cordon installs, as Claude Code does, and runs what the hook answers.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const CORDON = fileURLToPath(new URL('../../packages/core/bin/cordon.js', import.meta.url))
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'cordon-example-')))
const [project, home, secret] = ['project', 'home', 'secret'].map((name) => join(folder, name))
mkdirSync(project)
mkdirSync(join(home, '.config/cordon'), { recursive: true })
writeFileSync(secret, 'a secret\n')
writeFileSync(
  join(home, '.config/cordon/rules.yaml'),
  'rules:\n  - { effect: deny, command: rm, because: we keep files }\n',
)

// A local host would outlive this program.
const env = { PATH: process.env.PATH, HOME: home, CLAUDE_PROJECT_DIR: project, CORDON_HOST: 'off' }
const shell = (command, input) => spawnSync('/bin/sh', ['-c', command], { cwd: project, env, input, encoding: 'utf8' })
const cordon = (...words) => spawnSync(process.execPath, [CORDON, ...words], { cwd: project, env, encoding: 'utf8' })

/** The command of the settings gets the message, and answers on stdout. No answer leaves the call to Claude Code. */
const hook = (tool, input) => {
  const { hooks } = JSON.parse(readFileSync(join(project, '.claude/settings.local.json'), 'utf8'))
  const message = { hook_event_name: 'PreToolUse', cwd: project, tool_name: tool, tool_input: input }
  const { stdout } = shell(hooks.PreToolUse[0].hooks[0].command, JSON.stringify(message))
  return stdout === '' ? {} : JSON.parse(stdout).hookSpecificOutput
}

const expect = (claim, isTrue, seen) => {
  console.log(`${isTrue ? 'as expected' : 'WRONG'}: ${claim}${isTrue ? '' : `\n${JSON.stringify(seen)}`}`)
  if (!isTrue) process.exitCode = 1
}

try {
  const installed = cordon('hook', 'install', 'claude-code')
  expect('the hook is installed', installed.status === 0, installed)

  const ran = hook('Bash', { command: `cat ${secret}; echo made > note` })
  const { stdout } = shell(ran.updatedInput.command)
  expect('a command runs in a cell', existsSync(join(project, 'note')) && !stdout.includes('a secret'), [ran, stdout])

  const denied = hook('Bash', { command: 'rm note' })
  expect('a rule denies a command', denied.permissionDecisionReason?.includes('we keep files'), denied)

  const outside = hook('Read', { file_path: secret })
  expect('Read may not leave the project', outside.permissionDecision === 'deny', outside)
  const inside = hook('Read', { file_path: join(project, 'note') })
  expect('Read works in the project', inside.permissionDecision === undefined, inside)

  const why = cordon('why', 'last')
  expect('the audit log has the decisions', why.status === 0, why)
} catch (error) {
  console.error(error)
  process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
