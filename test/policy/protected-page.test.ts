import { fileURLToPath } from 'node:url'

import { expect, test } from 'vitest'

import { PROTECTED_FAMILIES, PROTECTED_NAMES } from '../../src/policy/protected/protected.js'
import type { ProtectedName } from '../../src/policy/protected/protected.js'

const WHERE: Readonly<Record<ProtectedName['scope'], string>> = {
  anywhere: 'every depth',
  project: 'every depth, without dependencies',
  root: 'the root itself',
}

const INTRODUCTION = `# Protected names

This page is written from the table of the code by \`npx vitest run test/policy/protected-page.test.ts -u\`.

In what a policy grants for writing, these names stay read-only: a program outside of the cell runs or obeys them
without being asked. A write grant that names one exactly permits it (\`--write .git/config\`).

## The rule

A name is listed when all of this holds:

1. A program outside of the cell executes it, or takes from it a command, a program, a hook, a key, or a place to load
   code from.
2. The program finds it by its name and place, without being told of it: on \`cd\`, at login, on opening the folder, on the
   next git, npm or agent command.
3. The person who starts that program did not mean to run what lies in this folder.

Not listed, and why:

| left out | why |
| --- | --- |
| source code, tests, \`Makefile\`, \`build.rs\`, \`setup.py\`, \`pyproject.toml\`, \`Gemfile\`, \`build.gradle\`, \`pom.xml\`, \`CMakePresets.json\`, \`go.work\`, \`deno.json\`, \`compose.yaml\` | whoever builds, tests or starts a project means to run it |
| \`gradle.properties\`, \`gradle/wrapper\`, \`uv.toml\`, \`poetry.toml\`, \`.python-version\`, \`.rspec\` | the same command runs a file beside it that is not listed, so that nothing would be gained |
| settings of linters, formatters and test runners (\`eslint.config.js\`, \`.pylintrc\`, \`conftest.py\`) | they are part of how the project is checked, like its tests |
| \`.nvmrc\`, \`.node-version\`, \`.ruby-version\`, \`.java-version\` | they choose among versions that are installed, and name no program |
| \`.github/workflows\`, \`.gitlab-ci.yml\` | they run elsewhere, after somebody has pushed them |
| \`AGENTS.md\`, \`CLAUDE.md\`, \`.cursorrules\` and other prose | an agent reads it as text, and its own permissions judge what it then does |
| \`.gitattributes\`, \`.gitmodules\` | they name filters and programs only together with \`.git/config\`, which is listed |
| \`.env\` | data for the program that is being written |
| lock files, \`node_modules\` | dependencies are code of the project |
| \`*.pth\` of Python | names are exact; \`.venv\`, \`venv\` and \`.local/lib\`, in which Python reads them, are listed |

\`package.json\` and \`composer.json\` are listed although they describe a project: they are data, and their scripts run
when somebody only installs dependencies. They count directly in a write root.

## The names

*Every depth*: where the name exists it is read-only, and a tool that makes one is ended. *Every depth, without
dependencies*: where the name exists outside of \`node_modules\` it is read-only, and a tool that makes one directly in the
write root is ended; deeper down scaffolds and packages bring such files along. *The root itself*: likewise, directly in a
write root alone.
`

const linkOf = (source: string) => (source.startsWith('https://') ? `[source](${source})` : `[source](../${source})`)

const tableOf = (names: readonly ProtectedName[]): readonly string[] => [
  '| names | where | because |',
  '| --- | --- | --- |',
  ...[...new Map(names.map((entry) => [`${entry.because} ${entry.source} ${entry.scope}`, entry])).values()].map(
    ({ because, source, scope }) => {
      const those = names.filter(
        (entry) => entry.because === because && entry.source === source && entry.scope === scope,
      )
      const listed = those
        .map(({ name, object }) => `\`${name}\`${object === 'file' ? ' (where it is no folder)' : ''}`)
        .join(', ')
      return `| ${listed} | ${WHERE[scope]} | ${because.replaceAll('|', '\\|')} (${linkOf(source)}) |`
    },
  ),
  '',
]

const PAGE = [
  INTRODUCTION,
  ...Object.entries(PROTECTED_FAMILIES).flatMap(([family, names]) => [
    `### ${family[0]?.toUpperCase() ?? ''}${family.slice(1)}`,
    '',
    ...tableOf(names),
  ]),
].join('\n')

test('docs/protected-names.md says what the table says', async () => {
  await expect(PAGE).toMatchFileSnapshot(fileURLToPath(new URL('../../docs/protected-names.md', import.meta.url)))
})

test('every protected name has a reason, and a page of whoever runs or obeys it', () => {
  expect(PROTECTED_NAMES.filter(({ because }) => because.length < 10)).toEqual([])
  expect(
    PROTECTED_NAMES.filter(({ source }) => !/^(?:https:\/\/[a-z0-9.-]+\/|docs\/[a-z-]+\.md$)/.test(source)),
  ).toEqual([])
})
