// docs/protected-names.md is generated from the table of protected names.
import { fileURLToPath } from 'node:url'

import { expect, test } from 'vitest'

import { PROTECTED_FAMILIES, PROTECTED_NAMES } from '../../src/policy/protected/protected.js'
import type { ProtectedName } from '../../src/policy/index.js'

const WHERE: Readonly<Record<ProtectedName['scope'], string>> = {
  anywhere: 'every depth',
  project: 'every depth, without dependencies',
  root: 'the root itself',
}

const INTRODUCTION = `# Protected names

This page is generated from the table in the code by \`npx vitest run test/policy/protected-page.test.ts -u\`.

These names stay read-only in every write root, because programs outside the cell run or obey them without asking. A
write grant that names one exactly permits it (\`--write .git/config\`).

## The rule

A name is listed if all of this is true:

1. A program outside the cell executes the file, or takes from it a command, a program, a hook, a key, or a place to load
   code from.
2. The program finds the file by its name and place, and nobody passes it: on \`cd\`, at login, on opening the folder, on
   the next git, npm or agent command.
3. The person who starts that program did not mean to run files of this folder.

Not listed, and why:

| not listed | why |
| --- | --- |
| source code, tests, \`Makefile\`, \`build.rs\`, \`setup.py\`, \`pyproject.toml\`, \`Gemfile\`, \`build.gradle\`, \`pom.xml\`, \`CMakePresets.json\`, \`go.work\`, \`deno.json\`, \`compose.yaml\` | people who build, test or start a project mean to run it |
| \`gradle.properties\`, \`gradle/wrapper\`, \`uv.toml\`, \`poetry.toml\`, \`.python-version\`, \`.rspec\` | the same command runs another file that is not listed, so protection would gain nothing |
| settings of linters, formatters and test runners (\`eslint.config.js\`, \`.pylintrc\`, \`conftest.py\`) | they check the project, like its tests |
| \`.nvmrc\`, \`.node-version\`, \`.ruby-version\`, \`.java-version\` | they choose among installed versions, and name no program |
| \`.github/workflows\`, \`.gitlab-ci.yml\` | they run elsewhere, after somebody has pushed them |
| \`AGENTS.md\`, \`CLAUDE.md\`, \`.cursorrules\` and other prose | an agent reads it as text, and the agent's own permissions decide what it does then |
| \`.gitattributes\`, \`.gitmodules\` | they name filters and programs only together with \`.git/config\`, which is listed |
| \`.env\` | data for the project's own program |
| lock files, \`node_modules\` | dependencies are code of the project |
| \`*.pth\` of Python | listed names are exact. Python reads these files in \`.venv\`, \`venv\` and \`.local/lib\`, which are listed |

\`package.json\` and \`composer.json\` are listed although they describe a project: they are data, and their scripts run
when somebody only installs dependencies. They count only directly in a write root.

## The names

- *Every depth*: an existing file with this name is read-only. A tool that creates one is killed.
- *Every depth, without dependencies*: an existing file outside \`node_modules\` is read-only. A tool that creates one
  directly in the write root is killed. Deeper in the tree it may create one, because scaffolds and packages do.
- *The root itself*: both rules apply only directly in a write root.
`

const linkOf = (source: string) =>
  source.startsWith('https://') ? `[source](${source})` : `[source](${source.replace('docs/', '')})`

const tableOf = (names: readonly ProtectedName[]): readonly string[] => [
  '| names | where | because |',
  '| --- | --- | --- |',
  ...[...new Map(names.map((entry) => [`${entry.because} ${entry.source} ${entry.scope}`, entry])).values()].map(
    ({ because, source, scope }) => {
      const those = names.filter(
        (entry) => entry.because === because && entry.source === source && entry.scope === scope,
      )
      const listed = those
        .map(({ name, object }) => `\`${name}\`${object === 'file' ? ' (unless it is a folder)' : ''}`)
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

test('docs/protected-names.md equals the table', async () => {
  await expect(PAGE).toMatchFileSnapshot(fileURLToPath(new URL('../../docs/protected-names.md', import.meta.url)))
})

test('every protected name has a reason, and a page of the program that runs or obeys it', () => {
  expect(PROTECTED_NAMES.filter(({ because }) => because.length < 10)).toEqual([])
  expect(
    PROTECTED_NAMES.filter(({ source }) => !/^(?:https:\/\/[a-z0-9.-]+\/|docs\/[a-z-]+\.md$)/.test(source)),
  ).toEqual([])
})
