// Bundles the command line and the library into one file, with the packages that they use, because Node takes long to
// load some hundred modules. cache-code.mjs adds caches of the compiled code.
import { createHash } from 'node:crypto'
import { createRequire } from 'node:module'
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

import { build } from 'esbuild'

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)))
const OUT = join(ROOT, 'dist', 'bundle')

/** The modules that the package exports, by the name of their bundle: `runtime` is runtime/index of dist. */
const EXPORTS = new Map(
  Object.values(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).exports).flatMap((each) =>
    each.unbundled === undefined
      ? []
      : [[basename(each.default, '.js'), each.unbundled.replace(/^\.\/dist\/|\.js$/g, '')]],
  ),
)
const LIBRARY_OUT = join(OUT, 'library')

/** The application's own, if it has one. */
const EXTERNAL = ['@opentelemetry/api']
const OPTIONS = { bundle: true, platform: 'node', target: 'node20', external: EXTERNAL, logLevel: 'warning' }

/** Modules that load slowly and that few calls need. A bundle loads them when it first uses something of them. */
const SLOW = {
  packages: ['acorn', 'ajv', 'ajv/dist/2019.js', 'ajv/dist/2020.js', 'jsonc-parser', 'smol-toml', 'yaml'],
  modules: ['http', 'http2', 'https', 'tls', 'dns/promises', 'readline'].map((name) => `node:${name}`),
}

/** Gives each slow package a CommonJS module of its own in the bundle, which nothing runs before it is required. */
const slowPackages = {
  name: 'slow-packages',
  setup: ({ onResolve, onLoad }) => {
    const names = new RegExp(`^(?:${SLOW.packages.join('|')})$`)
    onResolve({ filter: names }, ({ path }) => ({
      path: `slow_${path.replaceAll(/\W/g, '_')}`,
      namespace: 'slow',
      pluginData: moduleOf(path),
    }))
    onLoad({ filter: /./, namespace: 'slow' }, ({ pluginData }) => ({
      contents: `module.exports = require(${JSON.stringify(pluginData)})`,
      resolveDir: ROOT,
    }))
  },
}

const IMPORTED = /^import \{ (?<names>[^}]+) \} from '(?<path>\.[^']*\/index\.js)';$/gm
const EXPORTED = /^export \{ (?<names>[^}]+) \} from '(?<path>[^']+)';$/gm

const namesIn = (list) => list.split(',').flatMap((each) => each.trim() || [])

/** The file that declares what an index exports: another one, or the index itself. */
const declaredIn = (index, wanted) => {
  for (const { groups } of readFileSync(index, 'utf8').matchAll(EXPORTED)) {
    if (!namesIn(groups.names).includes(wanted)) continue
    const file = resolve(dirname(index), groups.path)
    return basename(file) === 'index.js' ? declaredIn(file, wanted) : file
  }
  return index
}

/**
 * Imports each name of a room from the file that declares it. An index would evaluate its whole room, and a command
 * needs a part of it.
 */
const withoutIndexes = {
  name: 'without-indexes',
  setup: ({ onLoad }) => {
    onLoad({ filter: /\/dist\/.*\.js$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replaceAll(IMPORTED, (_, names, from) => {
        const index = resolve(dirname(path), from)
        return namesIn(names)
          .map((each) => `import { ${each} } from '${declaredIn(index, each.split(' as ')[0])}';`)
          .join(' ')
      }),
    }))
  },
}

/** esbuild cannot bundle the form that jsonc-parser has for Node. */
const moduleOf = (name) =>
  createRequire(import.meta.url)
    .resolve(name)
    .replace('/jsonc-parser/lib/umd/', '/jsonc-parser/lib/esm/')

/** CommonJS, because Node takes a code cache for scripts and not for ES modules. */
const SCRIPT = {
  ...OPTIONS,
  plugins: [slowPackages, withoutIndexes],
  metafile: true,
  absWorkingDir: ROOT,
  format: 'cjs',
  define: { 'import.meta.url': 'MODULE_URL' },
  banner: {
    js:
      "const MODULE_URL = require('node:url').pathToFileURL(__filename).href\n" +
      'const later = (load) => new Proxy({}, ' +
      "{ get: (_, key) => (key === 'default' ? load() : load()[key]) })",
  },
}

const REQUIRED = new RegExp(
  String.raw`__toESM\((require_slow_\w+\(\)|require\("(?:${SLOW.modules.join('|')})"\)), 1\)|` +
    String.raw`(?<== )(require\("(?:${SLOW.modules.join('|')})"\))`,
  'g',
)

const EXPORTS_OF_MODULE =
  /^var (\w+_exports) = \{\};\n(__export\(\1, \{\n(?: {2}.*\n)*\}\);\n)((?:var .*;\n)?var init_\w+ = __esm\(\{\n.*\{\n {4}"use strict";\n)/gm

const finishScript = (file) => {
  // A script that comes from a code cache cannot import by itself: bin/load-bundle.js does it.
  const written = readFileSync(file, 'utf8')
    .replaceAll(/(?<![\w.'"`$])import\((?=["\w(])/g, 'importModule(')
    // What a module exports as an object is collected when it is evaluated, not for all modules at the start.
    .replaceAll(EXPORTS_OF_MODULE, (_, object, exported, start) => `var ${object} = {};\n${start}${exported}`)
    .replaceAll(REQUIRED, (_, whole, named) => `later(() => ${whole ?? named})`)
    .replaceAll(/^ *(?:\/\/|\*|\/\*).*$/gm, (comment) => comment.replaceAll(/[^\0-\x7f]+/g, '?'))
  // It is read as Latin-1, which takes half the memory of a text with other letters. Those are escaped in strings, and
  // a comment can do without. Packages have some in comments on lines of their own.
  const foreign = /^.*[^\0-\x7f].*$/m.exec(written)
  if (foreign !== null) throw new Error(`a letter that is not ASCII would be misread: ${foreign[0].trim()}`)
  // Names the caches that belong to this text: V8 itself compares only lengths.
  const name = createHash('sha256').update(written).digest('hex').slice(0, 16)
  // In a function, so that bin/load-bundle.js adds nothing to a text of this size.
  const parameters = 'exports, require, module, __filename, importModule'
  writeFileSync(file, `// ${name}\n(function (${parameters}) {\n${written}\n})\n`)
}

rmSync(OUT, { recursive: true, force: true })
// A room is evaluated when it is first used.
const parts = [...EXPORTS, ['command-line', 'commands/dispatch']]
const loaders = parts.map(([name, module]) => `exports['${name}'] = () => require('./${module}.js')`).join('\n')
const { metafile } = await build({
  ...SCRIPT,
  stdin: { contents: loaders, resolveDir: join(ROOT, 'dist') },
  outfile: join(OUT, 'main.cjs'),
})
finishScript(join(OUT, 'main.cjs'))
const { PREPARED_WORDS, answerOf } = await import('../dist/commands/dispatch.js')
// Read by bin/load-bundle.js, and by the native cordon (native/front/front.c).
mkdirSync(join(OUT, 'answers'))
for (const words of PREPARED_WORDS) writeFileSync(join(OUT, 'answers', words.join('') || '--help'), answerOf(words))
mkdirSync(LIBRARY_OUT)
// A bundler that takes this file into the program's own bundle leaves the rest of the package behind.
const LOADER = `import { createRequire } from 'node:module'

const fail = () => {
  throw new Error(
    'cordon cannot run from a bundle, because it starts programs of its own package. Leave it out of the bundle ' +
      '(esbuild: --external:cordon), and install it where the bundle runs. docs/runtime.md names other bundlers.',
  )
}
if (!/\\/dist\\/bundle\\/library\\/load\\.js(?:[?#]|$)/.test(import.meta.url)) fail()
const { loadBundle } = createRequire(import.meta.url)('../../../bin/load-bundle.js')
export const rooms = (loadBundle('library') ?? fail()).exports
`
writeFileSync(join(LIBRARY_OUT, 'load.js'), LOADER)
for (const [room, module] of EXPORTS) {
  const names = Object.keys(await import(join(ROOT, 'dist', `${module}.js`)))
  const lines = [`import { rooms } from './load.js'`, '', `const room = rooms['${room}']()`]
  const exported = names.map((name) => `export const ${name} = room.${name}`)
  writeFileSync(join(LIBRARY_OUT, `${room}.js`), [...lines, ...exported, ''].join('\n'))
}

/** Programs that run in a cell. Each is granted its folder, so it shares no file with another one. */
const CELL_PROGRAMS = { 'function-cell': ['runner'], 'describe': ['load-entries', 'typescript-hooks'] }
for (const [folder, names] of Object.entries(CELL_PROGRAMS))
  await build({
    ...OPTIONS,
    format: 'esm',
    splitting: true,
    entryPoints: names.map((name) => join(ROOT, 'dist', 'runtime', folder, `${name}.js`)),
    chunkNames: 'chunk-[hash]',
    outdir: join(OUT, folder),
  })

// The licenses of the packages in the bundles.
const packageIn = (file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(join(ROOT, file))?.[0]
const bundled = new Set(Object.keys(metafile.inputs).flatMap((file) => packageIn(file) ?? []))
const notices = [...bundled].sort().map((folder) => {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each))
  if (file === undefined) throw new Error(`${name} has no license file`)
  return `${name} ${version} (${license})\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`
})
const HEAD = 'The bundles of cordon contain these packages:\n'
writeFileSync(join(OUT, 'NOTICES.txt'), [HEAD, ...notices].join(`\n${'-'.repeat(80)}\n\n`))
