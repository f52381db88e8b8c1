// The page about `verify` lists the findings, and its hook and its workflow are tried as written.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { afterAll, expect, it } from 'vitest'
import { parse } from 'yaml'

import { FINDING_IDS, FINDINGS } from 'cordon/manifest'
import { CORDON, linkPackages } from '../../../../test/repository.js'
import { IN_MATRIX } from '../../../../test/turns.js'

const ROOT = join(import.meta.dirname, '..', '..')
const page = readFileSync(join(ROOT, 'docs/manifest.md'), 'utf8')
const blockOf = (language: string): string =>
  new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\``, 'm').exec(page)?.[1] ?? ''

const folder = mkdtempSync('/var/tmp/cordon-hook-')
afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
})

it('the table of findings is that of the code', () => {
  const rows = FINDING_IDS.map((id) => `| \`${id}\` | ${FINDINGS[id].severity} | ${FINDINGS[id].means} |`)
  expect(page).toContain(rows.join('\n'))
})

const ENVIRONMENT = {
  PATH: process.env['PATH'] ?? '',
  HOME: folder,
  GIT_CONFIG_NOSYSTEM: '1',
  npm_config_update_notifier: 'false',
  GITHUB_BASE_REF: 'main',
}
const project = join(folder, 'project')
const shell = (script: string): { readonly status: number; readonly output: string } => {
  try {
    const environment = { ...ENVIRONMENT, GITHUB_STEP_SUMMARY: join(folder, 'summary') }
    return {
      status: 0,
      output: execFileSync('sh', ['-c', script], { cwd: project, env: environment, encoding: 'utf8' }),
    }
  } catch (error) {
    const { status, stdout } = error as { readonly status: number; readonly stdout: string }
    return { status, output: stdout }
  }
}

const agent = (read: string): string =>
  `import { createCordon, tool } from 'cordon'\n` +
  `createCordon({ workspace: import.meta.dirname, tools: [\n` +
  `  tool({ name: 'report', policy: { filesystem: { read: [${read}] } }, run: () => 1 })] })\n`

it(
  'the hook and the steps of the workflow pass a commit that allows nothing new, and fail one that does',
  IN_MATRIX,
  () => {
    mkdirSync(join(project, 'node_modules/.bin'), { recursive: true })
    linkPackages(project, 'cordon')
    symlinkSync(CORDON, join(project, 'node_modules/.bin/cordon'))
    writeFileSync(join(project, '.gitignore'), 'node_modules\n')
    writeFileSync(join(project, 'cordon.config.json'), '{ "entries": ["agent.mjs"] }')
    writeFileSync(join(project, 'agent.mjs'), agent("'/a'"))
    const commit = 'git -c user.name=t -c user.email=t@example.org commit -q -m x'
    expect(shell('git init -q -b main && npx cordon manifest generate && git add . && ' + commit).status).toBe(0)
    expect(shell('git update-ref refs/remotes/origin/main main').status).toBe(0)
    writeFileSync(join(project, '.git/hooks/pre-commit'), blockOf('sh'), { mode: 0o755 })
    const { jobs } = parse(blockOf('yaml')) as {
      readonly jobs: { readonly verify: { readonly steps: readonly { readonly run?: string }[] } }
    }
    const steps = jobs.verify.steps.flatMap(({ run }) => (run === undefined || run === 'npm ci' ? [] : [run]))
    expect(steps).toHaveLength(3)
    expect(steps.map((step) => shell(step).status)).toEqual([0, 0, 0])
    expect(shell(`git commit --allow-empty --dry-run -q; ${commit} --allow-empty`).status).toBe(0)

    writeFileSync(join(project, 'agent.mjs'), agent("'/a', '/b'"))
    expect(shell(`${commit} -a`).status).toBe(1)
    expect(shell(`npx cordon manifest generate && ${commit} -a --no-verify`).status).toBe(0)
    const [first, second, third] = steps.map(shell)
    expect([first?.status, second?.status, third?.status]).toEqual([0, 1, 1])
    expect(readFileSync(join(folder, 'summary'), 'utf8')).toContain('`report` can now read `/b`')
    expect(third?.output).toMatch(/^::error file=agent\.mjs,line=\d+,title=tool\.filesystem\.read\.widened::/)
  },
)
