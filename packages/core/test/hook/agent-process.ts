// A real agent in a folder and a home of its own, with a scripted model and the hook that `cordon hook install` wrote.
import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

import { cordon } from '../cli/cordon.js'
import type { Ran } from '../cli/cordon.js'
import { ENDS_WHAT_HANGS_MS } from '../../../../test/hanging.js'
import { installPackage } from '../../../../test/installed-package.js'
import { DATA_HOME } from './hook-line.js'
import { startModel } from './scripted-model.js'
import type { ScriptedCall } from './scripted-model.js'
import { SHARED_LAUNCHER } from 'cordon/commands'

export interface AgentPlace {
  readonly root: string
  readonly workspace: string
  readonly home: string
  readonly environment: Readonly<Record<string, string>>
  readonly cordon: (words: readonly string[]) => Ran
  /** Rules of the user. */
  readonly setRules: (text: string) => void
  readonly remove: () => void
}

export const agentPlace = (): AgentPlace => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'cordon-agent-')))
  const [workspace, home] = [join(root, 'project'), join(root, 'home')]
  mkdirSync(workspace)
  mkdirSync(home)
  writeFileSync(join(root, 'secret'), 'a secret\n')
  const environment = {
    PATH: '/usr/local/bin:/usr/bin:/bin',
    HOME: home,
    LANG: 'C.UTF-8',
    SHELL: '/bin/bash',
    XDG_STATE_HOME: join(home, '.local/state'),
    XDG_CONFIG_HOME: join(home, '.config'),
    XDG_DATA_HOME: DATA_HOME,
    CORDON_HOST: 'off',
  }
  return {
    root,
    workspace,
    home,
    environment,
    cordon: (words) => cordon(words, { cwd: workspace, environment }),
    setRules: (text) => {
      const file = join(home, '.config/cordon/rules.yaml')
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, text)
    },
    remove: () => {
      rmSync(root, { recursive: true, force: true })
    },
  }
}

/** What stands in the settings in place of the hook. */
export const BROKEN_HOOKS = {
  missing: `'/nonexistent/cordon'`,
  crashed: `'/bin/sh' '-c' 'kill -SEGV $$'`,
  slow: `'/bin/sh' '-c' 'sleep 600'`,
}

/** As it stands in JSON. */
const SHARED = JSON.stringify(SHARED_LAUNCHER).slice(1, -1)

/** Replaces the hook in the installed settings, and lets `timeout` end it soon. */
export const breakHook = (settings: string, how: keyof typeof BROKEN_HOOKS): void => {
  const text = readFileSync(settings, 'utf8')
  const broken = text
    .replace(`'${DATA_HOME}/cordon/bin/cordon'`, () => BROKEN_HOOKS[how])
    .replace(SHARED, () => BROKEN_HOOKS[how].replaceAll("'", `'\\\\''`))
    .replace('KILL 25', 'KILL 2')
  if (broken === text) throw new Error('the settings have no hook')
  writeFileSync(settings, broken)
}

/** With Cordon as a package of the project, as npx finds it, and .bin before all other programs. */
export const withPackage = (place: AgentPlace, ...words: readonly string[]): AgentPlace => {
  const command = installPackage(place.workspace)
  const path = `${dirname(command)}:${place.environment['PATH'] ?? ''}`
  const environment = { ...place.environment, XDG_DATA_HOME: join(place.home, 'data'), PATH: path }
  execFileSync(command, ['hook', 'install', ...words], { cwd: place.workspace, env: environment, stdio: 'pipe' })
  writeFileSync(join(dirname(command), 'timeout'), `#!/bin/sh\ntouch '${place.root}/planted'\n`, { mode: 0o755 })
  return { ...place, environment }
}

const PROGRAM = 'node_modules/cordon/bin/cordon.js'

/** The command of an agent that puts itself into the program of its hook. */
export const PLANT =
  `for f in ${PROGRAM} node_modules/smol-toml/dist/index.js; do ` +
  `echo "require('fs').writeFileSync('../planted','')" >> $f; done; ` +
  ' echo tried > tried'

export const isPlanted = ({ root, workspace }: AgentPlace): boolean =>
  existsSync(join(root, 'planted')) || readFileSync(join(workspace, PROGRAM), 'utf8').includes('planted')

export interface AgentRun {
  /** What the model was told about its calls. */
  readonly results: readonly string[]
  readonly output: string
  readonly questions: readonly string[]
}

interface AgentCommand {
  readonly program: string
  readonly words: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  /** Lines for its stdin, and the answer to a line that it prints. */
  readonly dialog?: { readonly first: string; readonly reply: (line: string) => string | undefined }
}

export const runAgent = async (
  place: AgentPlace,
  calls: readonly ScriptedCall[],
  commandFor: (url: string) => AgentCommand,
): Promise<AgentRun> => {
  const model = await startModel(calls)
  try {
    const { program, words, environment, dialog } = commandFor(model.url)
    const questions: string[] = []
    const output = await new Promise<string>((resolve) => {
      const child = spawn(program, words, {
        cwd: place.workspace,
        env: { ...place.environment, ...environment },
        timeout: ENDS_WHAT_HANGS_MS,
        stdio: [dialog === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
      })
      let all = ''
      let rest = ''
      if (dialog !== undefined) child.stdin?.write(`${dialog.first}\n`)
      child.stdout?.setEncoding('utf8').on('data', (text: string) => {
        all += text
        const lines = (rest + text).split('\n')
        rest = lines.pop() ?? ''
        for (const line of dialog === undefined ? [] : lines) {
          const reply = dialog?.reply(line)
          if (reply === 'end') child.stdin?.end()
          else if (reply !== undefined) {
            questions.push(line)
            child.stdin?.write(`${reply}\n`)
          }
        }
      })
      child.stderr?.setEncoding('utf8').on('data', (text: string) => {
        all += text
      })
      child.on('close', () => {
        resolve(all)
      })
    })
    return { results: model.results, output, questions }
  } finally {
    await model.close()
  }
}

export const isMade = ({ workspace }: AgentPlace, name: string): boolean => existsSync(join(workspace, name))
