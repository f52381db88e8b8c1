// Follows the README word for word.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { expect, test } from 'vitest'

import { CORE } from '../repository.js'
import { loadPolicyText } from '../../packages/core/src/policy/index.js'

import { CORDON, temporaryFolder } from '../../packages/core/test/cli/cordon.js'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const README = readFileSync(join(ROOT, 'README.md'), 'utf8')
const folder = temporaryFolder()

const SANDBOX = readFileSync(join(CORE, 'docs', 'sandbox.md'), 'utf8')

const block = (language: string, page = README): string =>
  new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``).exec(page)?.[1] ?? ''

/** A project that has installed Cordon. */
const project = (name: string): string => {
  const place = join(folder, name)
  mkdirSync(join(place, 'node_modules'), { recursive: true })
  symlinkSync(CORE, join(place, 'node_modules', 'cordon'))
  return place
}

const runExample = (name: string, source: string) => {
  const place = project(name)
  writeFileSync(join(place, 'example.mjs'), source)
  const { status, stdout, stderr } = spawnSync(process.execPath, ['example.mjs'], {
    cwd: place,
    encoding: 'utf8',
    timeout: 200_000,
  })
  return { place, status, stdout, stderr }
}

test('the library example runs as printed', () => {
  const { place, status, stdout, stderr } = runExample('library', block('ts', SANDBOX))
  expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: 'apple\npear\n\n', stderr: '' })
  expect(readFileSync(join(place, 'out', 'sorted'), 'utf8')).toBe('apple\npear\n')
})

test('the library example shows what to do after a refusal', () => {
  const { stdout, stderr } = runExample('refused', block('ts', SANDBOX).replace(/^mkdirSync\('out'.*$/m, ''))
  expect({ stdout, stderr }).toEqual({
    stdout: '',
    stderr: expect.stringMatching(
      /^path-missing: the granted path .*\/out does not exist\nfix: create it first, or remove the grant\n$/,
    ) as string,
  })
})

test('the example of an agent runs as printed', () => {
  const { status, stdout } = runExample('agent', block('js'))
  expect(status).toBe(0)
  expect(stdout).toBe('ok 3\n')
})

test('the example of docs/runtime.md runs as printed', () => {
  const source = /```js\n([^]*?)```/.exec(readFileSync(join(CORE, 'docs', 'runtime.md'), 'utf8'))?.[1] ?? ''
  const place = project('runtime')
  writeFileSync(join(place, 'README.md'), 'four words are here\n')
  writeFileSync(join(place, 'example.mjs'), source)
  const { status, stdout } = spawnSync(process.execPath, ['example.mjs'], {
    cwd: place,
    encoding: 'utf8',
    timeout: 200_000,
  })
  expect({ status, lines: stdout.split('\n').slice(0, 2) }).toEqual({
    status: 0,
    lines: ['ok 4', expect.stringMatching(/^denied /)],
  })
})

test('the policy is valid', () => {
  expect(loadPolicyText(block('yaml'), 'README.md').filesystem.read).toMatchObject({ kind: 'list' })
})

test('the command line runs as printed', () => {
  const place = project('commands')
  const commands =
    README.split('## On the command line')[1]
      ?.split('\n\n')[1]
      ?.split('\n')
      .map((line) => line.trim()) ?? []
  expect(commands).toHaveLength(4)
  const script = commands.map((line) => line.replaceAll('npx cordon', `'${process.execPath}' '${CORDON}'`)).join(' && ')
  const { status, stdout, stderr } = spawnSync('sh', ['-c', script], {
    cwd: place,
    env: { ...process.env, XDG_STATE_HOME: join(folder, 'state') },
    encoding: 'utf8',
    timeout: 200_000,
  })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  expect(stdout).toMatch(
    /^apple\npear\nended because it exited with 0, which counts as ok\n\ncommand +sh -c 'cat data\/\* \| sort'\ndecision +allow/,
  )
  expect(readFileSync(join(place, 'out', 'sorted'), 'utf8')).toBe('apple\npear\n')
  expect(readdirSync(place)).toEqual(expect.arrayContaining(['facts.json']))
})

test('the policy works for the command below it', () => {
  const place = project('policy')
  for (const name of ['data', 'out']) mkdirSync(join(place, name))
  writeFileSync(join(place, 'data', 'words'), 'pear\napple\n')
  writeFileSync(join(place, 'policy.yaml'), block('yaml'))
  const script =
    /`npx (cordon run --policy .*)`/.exec(README)?.[1]?.replace('cordon', `'${process.execPath}' '${CORDON}'`) ?? ''
  const { status, stdout } = spawnSync('sh', ['-c', script], { cwd: place, encoding: 'utf8', timeout: 200_000 })
  expect({ status, stdout }).toEqual({ status: 0, stdout: 'apple\npear\n' })
})

test('it stays short', () => {
  expect(README.split('\n').length).toBeLessThanOrEqual(150)
})

test('every linked file exists', () => {
  const links = [...README.matchAll(/\]\(([^)#]+)\)/g)]
    .map(([, link = '']) => link)
    .filter((link) => !link.includes('://'))
  expect(links.length).toBeGreaterThan(5)
  for (const link of links) expect(() => readFileSync(join(ROOT, link)), link).not.toThrow()
})
