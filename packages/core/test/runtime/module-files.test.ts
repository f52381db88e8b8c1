// A module tool can read the code that it imports. Importing is no way to read other files of the host.
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

import { describe, expect, test } from 'vitest'

import { tool } from '../../src/runtime/index.js'

import { openStage } from './stage.js'

const stage = openStage()

/** A package with a module that imports `name`, a folder of data in it, and a folder beside it. */
const packageImporting = (name: string): string => {
  const folder = stage.newFolder()
  mkdirSync(join(folder, 'package/data'), { recursive: true })
  mkdirSync(join(folder, 'beside'))
  writeFileSync(join(folder, 'package/package.json'), '{ "type": "module" }')
  writeFileSync(join(folder, 'package/data/inner.json'), '"inner"')
  writeFileSync(join(folder, 'package/data/notes.txt'), 'notes')
  writeFileSync(join(folder, 'beside/token.json'), '"token"')
  const module = join(folder, 'package/main.js')
  // A require that never runs is followed as well. What it names is then readable in other ways.
  writeFileSync(
    module,
    `import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
const require = createRequire(import.meta.url)
export const run = ({ load }) => load ? require(${JSON.stringify(name)}) : readFileSync(new URL(${JSON.stringify(name)}, import.meta.url), 'utf8')
`,
  )
  return module
}
const readingBy = async (name: string, load: boolean) => {
  const module = pathToFileURL(packageImporting(name))
  const runtime = await stage.cordon({ tools: [tool({ name: 'read', module, export: 'run', argumentGate: 'off' })] })
  return runtime.call('read', { load })
}

describe.each([true, false])('a module tool (loading it as code: %s)', (load) => {
  test('reads data that its package has as code', async () => {
    expect(await readingBy('./data/inner.json', load)).toMatchObject({ status: 'ok' })
  })

  test.each(['../beside/token.json', './data/notes.txt', '/etc/shadow'])('does not read %s', async (name) => {
    const result = await readingBy(name, load)
    // `require` asks whether a file exists before it opens it, so it says that there is none.
    expect(result.status).toBe(load ? 'failed' : 'violated')
    expect(result).not.toHaveProperty('output')
  })
})

describe('a module tool with a symlinked node_modules', () => {
  /** A package `pad` in `store`, and a project that reaches it by the link. */
  const projectWith = (store: string, link: string, target: string): string => {
    const folder = stage.newFolder()
    mkdirSync(join(folder, store, 'pad'), { recursive: true })
    writeFileSync(join(folder, store, 'pad/package.json'), '{ "name": "pad", "version": "1.0.0" }')
    writeFileSync(join(folder, store, 'pad/index.js'), "module.exports = (text) => ' ' + text\n")
    writeFileSync(join(folder, store, 'secret.txt'), 'secret')
    mkdirSync(join(folder, 'project', link, '..'), { recursive: true })
    symlinkSync(target, join(folder, 'project', link))
    writeFileSync(
      join(folder, 'project/main.mjs'),
      `import { readFileSync } from 'node:fs'
import pad from 'pad'
export const run = ({ path }) => pad(path === undefined ? 'a' : readFileSync(new URL(path, import.meta.url), 'utf8'))
`,
    )
    return join(folder, 'project/main.mjs')
  }
  const called = async (module: string, input: unknown) => {
    const runtime = await stage.cordon({ tools: [tool({ name: 'pad', module, export: 'run', argumentGate: 'off' })] })
    return runtime.call('pad', input)
  }

  test.each([
    ['another node_modules', 'shared/node_modules', 'node_modules', '../shared/node_modules'],
    ['a folder of another name', 'shared/store', 'node_modules', '../shared/store'],
    ['one package elsewhere', 'shared/store', 'node_modules/pad', '../../shared/store/pad'],
  ])('loads packages of %s', async (_, store, link, target) => {
    expect(await called(projectWith(store, link, target), {})).toMatchObject({ status: 'ok', output: ' a' })
  })

  test('reads nothing else where the link leads', async () => {
    const module = projectWith('shared/store', 'node_modules', '../shared/store')
    expect(await called(module, { path: './node_modules/secret.txt' })).not.toHaveProperty('output')
  })
})
