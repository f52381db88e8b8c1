// Cordon starts programs of its own package, so it cannot be part of a bundle. Real bundlers make the bundles.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { build } from 'esbuild'
import type { BuildOptions } from 'esbuild'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { build as buildWithVite } from 'vite'

import { installPackage } from '../../../../test/installed-package.js'

const PROGRAM = `
import { createCordon, tool } from 'cordon'
const main = async () => {
  const tools = [tool({ name: 'add', policy: {}, run: ({ a, b }) => a + b })]
  const cordon = await createCordon({ workspace: process.cwd(), tools })
  console.log('the sum is', (await cordon.call('add', { a: 1, b: 2 })).output)
  await cordon.close()
}
main()
`

let project = ''
beforeAll(() => {
  project = realpathSync(mkdtempSync(join(tmpdir(), 'cordon-bundlers-')))
  installPackage(project)
  writeFileSync(join(project, 'program.mjs'), PROGRAM)
})
afterAll(() => {
  rmSync(project, { recursive: true, force: true })
})

const start = (bundle: string) => {
  const { stdout, stderr } = spawnSync(process.execPath, [join(project, bundle)], { cwd: project, encoding: 'utf8' })
  return { stdout, stderr }
}

const byEsbuild = async (outfile: string, options: BuildOptions): Promise<string> => {
  const shared = { bundle: true, platform: 'node', logLevel: 'silent', absWorkingDir: project } as const
  await build({ ...shared, entryPoints: ['program.mjs'], outfile, ...options })
  return outfile
}

const byVite = async (outDir: string, external: string[]): Promise<string> => {
  await buildWithVite({
    root: project,
    logLevel: 'silent',
    configFile: false,
    ssr: { noExternal: true, external },
    build: { ssr: 'program.mjs', outDir, rollupOptions: { output: { entryFileNames: 'program.mjs' } } },
  })
  return join(outDir, 'program.mjs')
}

test.each([
  ['esbuild, as an ES module', () => byEsbuild('whole.mjs', { format: 'esm' })],
  ['esbuild, as a script', () => byEsbuild('whole.cjs', { format: 'cjs' })],
  ['Rollup and Vite', () => byVite('whole', [])],
])('a bundle by %s that contains Cordon fails with a sentence', async (_, bundle) => {
  const { stdout, stderr } = start(await bundle())
  expect(stdout).toBe('')
  expect(stderr).toContain('Error: cordon cannot run from a bundle')
})

test.each([
  ['esbuild, as an ES module', () => byEsbuild('rest.mjs', { format: 'esm', external: ['cordon'] })],
  ['Rollup and Vite', () => byVite('rest', ['cordon'])],
])('a bundle by %s that leaves Cordon out runs tools', async (_, bundle) => {
  expect(start(await bundle())).toEqual({ stdout: 'the sum is 3\n', stderr: '' })
})
