// opencode: https://opencode.ai/docs/plugins/. It has no hooks that are commands, so a small plugin asks Cordon.
import { join, resolve } from 'node:path'

import { fail } from '../../errors/index.js'

import type { Agent } from '../agent.js'
import { isInstalledCommand } from '../installed-command.js'
import { mappingIn, textIn } from '../message.js'
import { patchedFiles } from '../patched-files.js'
import { GIVES_INSTRUCTIONS, READS_PAGES, actionOf } from '../tool-action.js'
import type { ToolTable } from '../tool-action.js'
import { jsonAnswer } from './pre-tool-use.js'

const NAME = 'opencode'

const TOOLS: ToolTable = {
  agent: NAME,
  shell: { bash: 'command' },
  files: {
    read: { read: ['filePath'] },
    write: { write: ['filePath'] },
    edit: { write: ['filePath'] },
    list: { folder: ['path'] },
    glob: { folder: ['path'], names: ['pattern'] },
    grep: { folder: ['path'], filter: ['include'] },
  },
  harmless: ['todowrite', 'todoread', 'task', 'question', 'invalid'],
  others: {
    webfetch: READS_PAGES,
    websearch: READS_PAGES,
    skill: GIVES_INSTRUCTIONS,
  },
}

const PATCHES = ['patch', 'apply_patch']

export const OPENCODE: Agent = {
  name: NAME,
  title: 'opencode',
  // A plugin can only throw.
  canAsk: () => false,
  parse: (message, { XDG_DATA_HOME: data, HOME: home = '' }) => {
    const tool = textIn(message, 'tool', NAME)
    const args = mappingIn(message, 'args', NAME)
    const action = PATCHES.includes(tool)
      ? patchedFiles(textIn(args, 'patchText', NAME), NAME)
      : actionOf(tool, args, TOOLS)
    const workspace = textIn(message, 'directory', NAME)
    const { workdir: folder } = args
    return {
      tool,
      action,
      workspace,
      // A command runs in the folder that the model chooses. It is not the workspace.
      cwd: action.kind === 'shell' && typeof folder === 'string' ? resolve(workspace, folder) : workspace,
      outputs: [join(data === undefined || data === '' ? join(home, '.local/share') : data, 'opencode/tool-output')],
    }
  },
  answer: (verdict) =>
    verdict.kind === 'run'
      ? jsonAnswer(verdict.command === undefined ? {} : { command: verdict.command })
      : jsonAnswer({ deny: verdict.reason }),
  settings: {
    files: { project: '.opencode/plugins/cordon.js', user: '~/.config/opencode/plugins/cordon.js' },
    isProjectShared: true,
    moved: [{ variable: 'XDG_CONFIG_HOME', from: '~/.config' }],
    edit: (text, path, change) => {
      if (text.trim() !== '' && !text.startsWith(MARK))
        throw fail('file-syntax', {
          source: path,
          problem: 'Cordon did not write it',
          form: 'plugin of Cordon',
          fix: 'rename it: Cordon needs this name for its own plugin',
        })
      return change.kind === 'install' ? pluginOf(change.command) : ''
    },
    find: (text) => {
      const line = /^const COMMAND = (?<json>".*")$/m.exec(text)?.groups?.['json']
      const command: unknown = line === undefined ? undefined : JSON.parse(line)
      return text.startsWith(MARK) && isInstalledCommand(command, NAME) ? command : undefined
    },
    isAsInstalled: (text, _, command) => text === pluginOf(command),
  },
  notHeld: [
    'A plugin of opencode cannot ask. Cordon denies a call that would ask, and says which rule would allow it.',
    'opencode loads plugins when it starts: one that cannot be loaded is left out, and opencode says nothing to Cordon.',
    'Plugins run in the same process. Another plugin can change the command after Cordon has seen it.',
    'File tools run in opencode itself. Cordon checks their paths, but no cell confines them.',
  ],
}

const MARK = '// Written by `cordon hook install opencode`.'

/** Everything but an answer of Cordon throws, and opencode does not run the tool. */
const pluginOf = (command: string): string => `${MARK} Remove it with \`cordon hook uninstall opencode\`.
import { spawn } from 'node:child_process'

const COMMAND = ${JSON.stringify(command)}

const ask = (message) =>
  new Promise((resolve, reject) => {
    const child = spawn('/bin/sh', ['-c', COMMAND], { stdio: ['pipe', 'pipe', 'pipe'] })
    const texts = { stdout: '', stderr: '' }
    for (const name of ['stdout', 'stderr']) child[name].on('data', (chunk) => { texts[name] += chunk })
    child.on('error', reject)
    child.stdin.on('error', () => undefined)
    child.on('close', (status) => {
      if (status === 0) resolve(JSON.parse(texts.stdout))
      else reject(new Error(texts.stderr || 'cordon: the hook failed, so this call does not run'))
    })
    child.stdin.end(JSON.stringify(message))
  })

export const CordonPlugin = async ({ directory }) => ({
  'tool.execute.before': async ({ tool }, output) => {
    const answer = await ask({ tool, args: output.args, directory })
    if (answer.deny !== undefined) throw new Error(answer.deny)
    if (answer.command !== undefined) output.args.command = answer.command
  },
})
`
