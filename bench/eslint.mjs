// npm run bench -- --eslint: what the rules of eslint-plugin-cordon add to a lint with type-checked rules, for a
// project of 50,000 lines with 200 tools. Both lints run in this process, in turns, and are measured in processor time.
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ESLint } from 'eslint'
import tseslint from 'typescript-eslint'
import { cordon } from 'eslint-plugin-cordon'
import { createScratch } from './scratch.mjs'

const TOOLS = 200
const HELPERS = 201
const FUNCTIONS_PER_HELPER = 12
const ROOT = join(import.meta.dirname, '..')
const TARGET = 0.1

/** Code as people write it: types, loops, conditions, promises. @param {number} file @param {number} at */
const functionText = (file, at) => `
export interface Row${at} { readonly id: string; readonly amount: number; readonly tags: readonly string[] }

/** Sums up the rows of one tag. */
export const total${at} = (rows: readonly Row${at}[], tag: string): number => {
  let sum = 0
  for (const { amount, tags } of rows) {
    if (!tags.includes(tag)) continue
    sum += amount > 0 ? amount : 0
  }
  return Math.round(sum * 100) / 100
}

export const group${at} = async (rows: readonly Row${at}[]): Promise<ReadonlyMap<string, number>> => {
  const groups = new Map<string, number>()
  await Promise.resolve()
  for (const row of rows) groups.set(row.id, (groups.get(row.id) ?? ${file}) + row.amount)
  return groups
}
`

/** @param {number} file */
const helperText = (file) =>
  `import { readFile } from 'node:fs/promises'\n` +
  Array.from({ length: FUNCTIONS_PER_HELPER }, (_, at) => functionText(file, at)).join('') +
  `\nexport const load${file} = async (): Promise<string> => await readFile('./data/${file}.json', 'utf8')\n`

/** @param {number} at */
const toolText = (at) => `import { tool } from 'cordon'
import { group0, load${at}, total1 } from './helper-${at}.js'
import { load${at + 1}, total2 } from './helper-${at + 1}.js'

export const report${at} = tool({
  name: 'report-${at}',
  description: 'sums up rows',
  input: { type: 'object', properties: { tag: { type: 'string' } }, required: ['tag'] },
  policy: { filesystem: { read: ['${at === 0 ? 'other' : 'data'}/**'] } },
  run: async ({ tag }: { readonly tag: string }) => {
    const rows = JSON.parse(await load${at}()) as { id: string; amount: number; tags: string[] }[]
    const others = JSON.parse(await load${at + 1}()) as { id: string; amount: number; tags: string[] }[]
    const groups = await group0(rows)
    return { total: total1(rows, tag) + total2(others, tag), groups: groups.size }
  },
})
`

/** @param {string} folder */
const writeProject = (folder) => {
  const source = join(folder, 'src')
  mkdirSync(join(folder, 'node_modules'), { recursive: true })
  mkdirSync(source)
  symlinkSync(join(ROOT, 'packages', 'core'), join(folder, 'node_modules', 'cordon'))
  symlinkSync(join(ROOT, 'node_modules', '@types'), join(folder, 'node_modules', '@types'))
  const files = [
    ...Array.from({ length: HELPERS }, (_, at) => [`helper-${at}.ts`, helperText(at)]),
    ...Array.from({ length: TOOLS }, (_, at) => [`tool-${at}.ts`, toolText(at)]),
  ]
  for (const [name, text] of files) writeFileSync(join(source, name ?? ''), text ?? '')
  const compilerOptions = { strict: true, module: 'nodenext', target: 'es2022', noEmit: true, types: ['node'] }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['src'] }))
  return files.reduce((lines, [, text]) => lines + (text ?? '').split('\n').length, 0)
}

/** Seconds of processor time. @param {string} folder @param {import('eslint').Linter.Config[]} more */
const lint = async (folder, more) => {
  const before = process.cpuUsage()
  const eslint = new ESLint({
    cwd: folder,
    overrideConfigFile: true,
    overrideConfig: [
      { files: ['**/*.ts'], languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: folder } } },
      .../** @type {import('eslint').Linter.Config[]} */ (tseslint.configs.recommendedTypeChecked),
      ...more,
    ],
  })
  const results = await eslint.lintFiles(['src'])
  const { user, system } = process.cpuUsage(before)
  const messages = results.flatMap((result) => result.messages)
  // The first tool reads two files that its policy does not grant. So the rules are known to look.
  const found = messages.filter(({ fatal, ruleId }) => fatal === true || ruleId?.startsWith('cordon/') === true)
  const expected = more.length === 0 ? 0 : 2
  if (found.length !== expected)
    throw new Error(`${found.length} findings, not ${expected}: ${found[0]?.message ?? ''}`)
  return (user + system) / 1e6
}

/** @param {Pick<import('./options.mjs').Options, 'quick'>} options */
export async function benchEslint({ quick }) {
  const rounds = quick ? 1 : 3
  const folder = createScratch('cordon-bench-eslint')
  const lines = writeProject(folder)
  process.stdout.write(`${lines} lines, ${TOOLS} tools\n`)
  const [plain, ours] = [/** @type {number[]} */ ([]), /** @type {number[]} */ ([])]
  // The first lint also compiles the code of ESLint and the compiler.
  await lint(folder, [])
  for (let round = 0; round < rounds; round += 1) {
    plain.push(await lint(folder, []))
    ours.push(await lint(folder, [cordon.configs.recommended]))
  }
  const [without, withRules] = [Math.min(...plain), Math.min(...ours)]
  const added = (withRules - without) / without
  const percent = (added * 100).toFixed(1)
  process.stdout.write(
    `type-checked rules ${without.toFixed(2)} s, with eslint-plugin-cordon ${withRules.toFixed(2)} s: ${percent} % more ` +
      `(at most ${TARGET * 100} %)\n`,
  )
  if (added > TARGET) process.exitCode = 1
}
