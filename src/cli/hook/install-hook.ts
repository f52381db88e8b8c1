// `cordon hook install`, `uninstall` and `list`: the settings of agents. Every change keeps a backup of the file.
import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

import { codeOf, fail, reasonOf } from '../../errors/index.js'
import { installedCommand } from '../../runtime/agent-hook/index.js'

import { usage } from '../arguments.js'
import type { Arguments } from '../arguments.js'
import type { CommandLine, Environment } from '../command-line.js'
import { homeOf } from '../settings/own-folders.js'
import { copyNew, refuseLinks, replaceFile } from '../settings/replace-file.js'
import { STDOUT, paintFor, writeText } from '../text/console-text.js'
import { renderTable } from '../text/table-text.js'
import type { Agent, HookChange, Scope } from './agent.js'
import { PASSED_ON, ownWords } from './rewrite.js'

const COMMAND = 'cordon hook'

export const installHook = (agent: Agent, line: CommandLine): number => {
  const scope = scopeOf(line.given)
  const command = installedCommand([...ownWords(), 'hook', agent.name, ...optionsOf(line.given, scope)])
  const path = change(agent, scope, line, { kind: 'install', command })
  if (path === undefined) return 0
  const lines = [
    `The hook of ${agent.title} is in ${path}. It holds from the next start of ${agent.title}.`,
    ...(process.argv[1]?.includes('/_npx/') === true
      ? [
          'Cordon runs from a cache of npx. If npx removes it, every call is blocked: install Cordon (npm install cordon).',
        ]
      : []),
    '',
    `What ${agent.title} does not let Cordon hold:`,
    ...agent.notHeld.map((each) => `- ${each}`),
    '',
    'Every decision is in the audit log: cordon log show. docs/hooks.md explains grants and rules.',
  ]
  writeText(STDOUT, `${lines.join('\n')}\n`)
  return 0
}

export const uninstallHook = (agent: Agent, line: CommandLine): number => {
  const path = change(agent, scopeOf(line.given), line, { kind: 'remove' })
  if (path !== undefined) writeText(STDOUT, `The hook of ${agent.title} is no longer in ${path}.\n`)
  return 0
}

export const listHooks = (agents: readonly Agent[], { environment }: CommandLine): number => {
  const rows = agents.flatMap((agent) =>
    (['project', 'user'] as const).flatMap((scope) => {
      const path = pathOf(agent, scope, environment)
      const command = agent.settings.find(read(path), path)
      return command === undefined ? [] : [[agent.name, scope, path, optionsIn(command, agent.name)]]
    }),
  )
  const heads = ['AGENT', 'SCOPE', 'FILE', 'OPTIONS']
  writeText(STDOUT, renderTable(heads, rows, paintFor(STDOUT, environment), 'No hook is installed here.'))
  return 0
}

const scopeOf = ({ switches }: Arguments): Scope => {
  if (switches.has('project') && switches.has('user'))
    throw usage('--project and --user cannot stand together', COMMAND, 'choose one')
  return switches.has('user') ? 'user' : 'project'
}

const pathOf = (agent: Agent, scope: Scope, environment: Environment): string => {
  const file = agent.settings.files[scope]
  return file.startsWith('~/') ? join(homeOf(environment), file.slice(2)) : resolve(file)
}

/** The options of the hook, as they stand in the settings. Paths are absolute, because the hook runs elsewhere. */
const optionsOf = ({ values, switches }: Arguments, scope: Scope): readonly string[] => {
  const isFile = (name: string, value: string): boolean =>
    name === 'rules' || name === 'upstream-ca' || (name === 'policy' && /\/|\.(?:ya?ml|json)$/.test(value))
  const workspace = values.get('workspace')?.[0] ?? (scope === 'project' ? '.' : undefined)
  return [
    ...(workspace === undefined ? [] : ['--workspace', realpathSync(resolve(workspace))]),
    ...['mode', 'rules', ...PASSED_ON.map(({ name }) => name)].flatMap((name) =>
      (values.get(name) ?? []).flatMap((value) => [`--${name}`, isFile(name, value) ? resolve(value) : value]),
    ),
    ...(switches.has('no-cell') ? ['--no-cell'] : []),
  ]
}

const optionsIn = (command: string, agent: string): string =>
  (command.split(`'hook' '${agent}'`)[1] ?? '').trim().replaceAll(/'([\w@%+=:,./-]+)'/g, '$1')

/** Returns the file, or undefined if the change was only shown. */
const change = (
  agent: Agent,
  scope: Scope,
  { given, environment }: CommandLine,
  wanted: HookChange,
): string | undefined => {
  const path = pathOf(agent, scope, environment)
  const before = read(path)
  const after = agent.settings.edit(before, path, wanted)
  if (given.switches.has('print')) {
    writeText(STDOUT, after)
    return undefined
  }
  if (after !== before)
    write(path, after, scope, agent.settings.find(before, path) === undefined ? 'backup' : 'no-backup')
  return path
}

const read = (path: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return ''
    throw fail('file-unreadable', { path, problem: reasonOf(cause), fix: 'make it readable for this user' }, cause)
  }
}

/**
 * `backup`: of the file without the hook. A file of the user that is a link, perhaps into a folder of dot files, stays
 * one.
 */
const write = (given: string, text: string, scope: Scope, keep: 'backup' | 'no-backup'): void => {
  try {
    mkdirSync(dirname(given), { recursive: true })
    if (scope === 'project') refuseLinks(given, process.cwd())
    const exists = existsSync(given)
    const path = exists ? realpathSync(given) : given
    if (exists && keep === 'backup') {
      rmSync(`${path}.before-cordon`, { force: true })
      copyNew(path, `${path}.before-cordon`)
    }
    // The hook was alone in it.
    if (['', '{}'].includes(text.replaceAll(/\s/g, ''))) {
      rmSync(path, { force: true })
      return
    }
    replaceFile(path, text)
  } catch (cause) {
    throw fail('file-unwritable', { path: given, problem: reasonOf(cause) }, cause)
  }
}
