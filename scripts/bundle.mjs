// Bundles the command line into one file and the library into another, because Node takes long to load some hundred
// modules. cache-code.mjs adds a cache of the compiled code. Rarely needed commands stay separate.
import { createHash } from 'node:crypto'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { build } from 'esbuild'

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)))
// These are bundled separately: few calls need them, and they are large.
const SEPARATE = [
  ...['serve', 'approvals', 'tools', 'calls', 'runs', 'team', 'tokens', 'credentials', 'runner'].map(
    (name) => `team/${name}`,
  ),
  'log/why-stored',
  'log/log-stored',
  // The library for logins is an ES module.
  'mcp-login/mcp-login',
  'settings/logins',
]
const SEPARATE_OUT = join(ROOT, 'dist', 'bundle', 'separate')
// At the same depth as the modules, which find package.json, launcher, runner and policies by relative paths.
const OUT = join(ROOT, 'dist', 'bundle', 'command-line')
/** The program that runs in the cell of an MCP server which speaks HTTP. */
const BRIDGE_OUT = join(ROOT, 'dist', 'bundle', 'bridge')

const separateApart = {
  name: 'separate-apart',
  setup: ({ onResolve }) => {
    const apart = new RegExp(String.raw`/cli/(${SEPARATE.join('|')})\.js$`)
    onResolve({ filter: /^\.\.?\// }, ({ path, kind, resolveDir }) => {
      const command = kind === 'dynamic-import' ? apart.exec(join(resolveDir, path))?.[1] : undefined
      return command === undefined ? undefined : { path: `../separate/${basename(command)}.js`, external: true }
    })
  },
}

/** The modules that the package exports, by the name of their bundle: `runtime` is dist/runtime/index.js. */
const EXPORTS = new Map(
  Object.values(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).exports).flatMap((each) =>
    each.types === undefined
      ? []
      : [[basename(each.default, '.js'), each.types.replace(/^\.\/dist\//, '').replace(/\.d\.ts$/, '')]],
  ),
)
const LIBRARY_OUT = join(ROOT, 'dist', 'bundle', 'library')

/** Modules beside the rooms: each connects a runtime to an SDK or a linter. */
const BESIDE = Object.fromEntries([...EXPORTS].filter(([, module]) => /^(?:adapters|eslint)\//.test(module)))

// All other rooms that the package exports, in one file, so that they share their classes and state.
const ROOMS = [...EXPORTS.keys()].filter((name) => !(name in BESIDE))

/** They take the rooms from the library file too. They are ES modules, so that they get the program's own SDK. */
const roomsApart = {
  name: 'rooms-apart',
  setup: ({ onResolve }) => {
    const room = new RegExp(`^\\.\\./(${ROOMS.join('|')})/index\\.js$`)
    onResolve({ filter: room }, ({ path }) => ({ path: `./${room.exec(path)[1]}.js`, external: true }))
  },
}

const OPTIONS = { bundle: true, platform: 'node', target: 'node20', packages: 'external', logLevel: 'warning' }
const modulesOf = (names) => names.map((name) => join(ROOT, 'dist', 'cli', `${name}.js`))

/** CommonJS, because Node takes a code cache for scripts and not for ES modules. */
const SCRIPT = {
  ...OPTIONS,
  format: 'cjs',
  define: { 'import.meta.url': 'MODULE_URL' },
  banner: {
    js:
      "const MODULE_URL = require('node:url').pathToFileURL(__filename).href\n" +
      'const later = (name) => new Proxy({}, ' +
      "{ get: (_, key) => (key === 'default' ? require(name) : require(name)[key]) })",
  },
}

/** Modules that load slowly and that few calls need. A bundle loads them when it first uses something of them. */
const SLOW = [
  'acorn',
  'jsonc-parser',
  'smol-toml',
  ...['http', 'http2', 'https', 'tls', 'dns/promises', 'readline'].map((name) => `node:${name}`),
]
const REQUIRED = new RegExp(
  String.raw`__toESM\(require\("(${SLOW.join('|')})"\), 1\)|require\("(${SLOW.join('|')})"\)`,
  'g',
)

const finishScript = (folder) => {
  const file = join(folder, 'main.cjs')
  // A script that comes from a code cache cannot import by itself: bin/load-bundle.js does it.
  const written = readFileSync(file, 'utf8')
    .replaceAll(/(?<![\w.'"`$])import\((?=["\w])/g, 'importModule(')
    .replaceAll(REQUIRED, (_, whole, named) => `later("${whole ?? named}")`)
  // It is read as Latin-1, which takes half the memory of a text with other letters. Those are escaped in strings, and
  // a comment can do without.
  const foreign = /^.*[^\0-\x7f].*$/m.exec(written)
  if (foreign !== null) throw new Error(`a letter that is not ASCII would be misread: ${foreign[0].trim()}`)
  // Names the cache that belongs to this text: V8 itself compares only lengths.
  const name = createHash('sha256').update(written).digest('hex').slice(0, 16)
  writeFileSync(file, `// ${name}\n${written}`)
}

for (const folder of [OUT, SEPARATE_OUT, LIBRARY_OUT, BRIDGE_OUT]) rmSync(folder, { recursive: true, force: true })
await build({
  ...SCRIPT,
  entryPoints: modulesOf(['dispatch']),
  outfile: join(OUT, 'main.cjs'),
  plugins: [separateApart],
})
finishScript(OUT)
// In one file, so that a cell needs no other.
await build({
  ...OPTIONS,
  format: 'cjs',
  entryPoints: [join(ROOT, 'dist', 'mcp', 'bridge', 'main.js')],
  outfile: join(BRIDGE_OUT, 'main.cjs'),
})
const { PREPARED_WORDS, answerOf } = await import('../dist/cli/dispatch.js')
const answers = PREPARED_WORDS.map((words) => [words.join(' '), answerOf(words)])
writeFileSync(join(ROOT, 'dist', 'bundle', 'answers.json'), JSON.stringify(Object.fromEntries(answers)))
await build({
  ...OPTIONS,
  ...{
    splitting: true,
    format: 'esm',
    entryPoints: modulesOf(SEPARATE),
    entryNames: '[name]',
    outdir: SEPARATE_OUT,
  },
})
// A room is evaluated when it is first imported.
const loaders = ROOMS.map((room) => `exports['${room}'] = () => require('./${room}/index.js')`).join('\n')
await build({
  ...SCRIPT,
  stdin: { contents: loaders, resolveDir: join(ROOT, 'dist') },
  outfile: join(LIBRARY_OUT, 'main.cjs'),
})
finishScript(LIBRARY_OUT)
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
for (const room of ROOMS) {
  const names = Object.keys(await import(join(ROOT, 'dist', room, 'index.js')))
  const lines = [`import { rooms } from './load.js'`, '', `const room = rooms['${room}']()`]
  const exported = names.map((name) => `export const ${name} = room.${name}`)
  writeFileSync(join(LIBRARY_OUT, `${room}.js`), [...lines, ...exported, ''].join('\n'))
}
await build({
  ...OPTIONS,
  splitting: true,
  format: 'esm',
  entryPoints: Object.fromEntries(
    Object.entries(BESIDE).map(([name, module]) => [name, join(ROOT, 'dist', `${module}.js`)]),
  ),
  chunkNames: 'beside-[hash]',
  outdir: LIBRARY_OUT,
  plugins: [roomsApart],
})
await import('./list-contents.mjs')
