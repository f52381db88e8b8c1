// Projects on disk, with this checkout as their package `cordon`.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { afterAll } from 'vitest'

import { readManifest } from 'cordon/manifest'
import type { Manifest } from 'cordon/manifest'

import { linkPackages } from '../../../../test/repository.js'
import { cordon } from '../../../core/test/cli/cordon.js'
import type { Ran } from '../../../core/test/cli/cordon.js'

const made: string[] = []
afterAll(() => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true })
})

export const temporaryFolder = (): string => {
  const folder = realpathSync(mkdtempSync('/var/tmp/cordon-project-'))
  made.push(folder)
  return folder
}

export const project = (
  files: Readonly<Record<string, string>>,
  folder = join(temporaryFolder(), 'project'),
): string => {
  linkPackages(folder, 'cordon', 'typescript', 'zod')
  for (const [name, text] of Object.entries({ 'package.json': '{ "type": "module" }', ...files })) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  return folder
}

export const generate = (cwd: string, words: readonly string[] = [], home = '/var/empty'): Ran =>
  cordon(['manifest', 'generate', '--out', '-', ...words], { cwd, environment: { HOME: home } })

/** The manifest of a project that can be described. */
export const described = (cwd: string, words: readonly string[] = []): Manifest => {
  const { status, stdout, stderr } = generate(cwd, words)
  if (status !== 0) throw new Error(stderr)
  return readManifest(stdout, 'stdout').manifest
}

export const SUPPORT = `
import { homedir } from 'node:os'
import { createCordon, processTool } from 'cordon'
import { report } from './tools.js'

type Mode = 'default' | 'plan'
const mode: Mode = 'default'

export const support = createCordon({
  workspace: process.cwd(),
  context: { agent: 'support' },
  mode,
  budget: { toolCalls: 20 },
  egress: { secrets: { github: 'env:GITHUB_TOKEN', vault: 'command:/usr/bin/pass show top-secret' } },
  audit: { path: process.cwd() + '/audit.jsonl' },
  tools: [
    report,
    processTool({
      name: 'bash',
      command: ({ command }: { readonly command: string }) => ['bash', '-c', command],
      policy: {
        filesystem: { read: [process.cwd() + '/data/**', homedir() + '/notes'] },
        environment: ['LANG=C', 'PLACE=' + process.cwd() + '/data'],
      },
    }),
  ],
  rules: [[
    { effect: 'deny', tool: 'bash', paths: process.cwd() + '/secret/**', because: 'secrets' },
    { effect: 'ask', tool: 'bash', because: 'a shell' },
  ]],
})
`

export const TOOLS = `
import { tool } from 'cordon'
import { z } from 'zod'

interface Row { readonly name: string }

export const report = tool({
  name: 'report',
  input: z.object({ path: z.string() }),
  policy: { filesystem: { read: ['./data/**'] } },
  run: async ({ path }: { readonly path: string }): Promise<string> => {
    const { readFile } = await import('node:fs/promises')
    const rows = JSON.parse(await readFile(path, 'utf8')) as readonly Row[]
    return rows.map((row): string => row.name).join()
  },
})

export const search = tool({ name: 'search', policy: { network: ['api.example.com'] }, run: () => 'found' })
tool({ name: 'later', run: () => 1 })
`

export const CONFIG = `
import { defineProject } from 'cordon'
import type { ProjectOptions } from 'cordon'

const tags: ProjectOptions['tags'] = { public: ['./docs/**'], own: ['*.example.com'] }

export default defineProject({
  entries: ['agents/support.ts', 'agents/tools.ts'],
  agents: { finder: { tools: ['search'], mcp: ['.mcp.json'] } },
  policies: ['.cordon/policies/build.yaml'],
  tags,
})
`

/** A project in TypeScript, with two agents, an MCP server, a policy file and rules. */
export const whole = (folder?: string): string => {
  const made = project(
    {
      'cordon.config.ts': CONFIG,
      'agents/support.ts': SUPPORT,
      'agents/tools.ts': TOOLS,
      '.cordon/policies/build.yaml': 'filesystem: { read: [.], write: [dist/**] }\n',
      '.cordon/rules.yaml':
        'rules: [{ effect: deny, tool: build, command: "git push --force **", because: history }]\n',
      '.cordon/mcp.yaml': 'servers: { files: { tools: { "read_*": { filesystem: { read: [data/**] } } } } }\n',
      '.cordon/mcp.lock': JSON.stringify({
        format: '1',
        packages: { 'npm:files-server': { version: '1.2.3', integrity: 'sha512-abc', tree: {} } },
      }),
    },
    folder,
  )
  writeFileSync(
    join(made, '.mcp.json'),
    JSON.stringify({
      mcpServers: {
        files: { command: 'npx', args: ['-y', 'files-server', `${made}/data`], env: { PASSWORD: 'hunter-two' } },
      },
    }),
  )
  return made
}
