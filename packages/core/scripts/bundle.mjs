// Bundles the command line into one file and the library into another, because Node takes long to load some hundred
// modules. cache-code.mjs adds a cache of the compiled code.
import { createHash } from 'node:crypto'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { build } from 'esbuild'

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)))
// At the same depth as the modules, which find package.json, launcher, runner and policies by relative paths.
const OUT = join(ROOT, 'dist', 'bundle', 'command-line')

/** The modules that the package exports, by the name of their bundle: `runtime` is runtime/index of dist. */
const EXPORTS = new Map(
  Object.values(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).exports).flatMap((each) =>
    each.types === undefined
      ? []
      : [[basename(each.default, '.js'), each.types.replace(/^\.\/dist\//, '').replace(/\.d\.ts$/, '')]],
  ),
)
const LIBRARY_OUT = join(ROOT, 'dist', 'bundle', 'library')

const OPTIONS = { bundle: true, platform: 'node', target: 'node20', packages: 'external', logLevel: 'warning' }

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
    .replaceAll(/(?<![\w.'"`$])import\((?=["\w(])/g, 'importModule(')
    .replaceAll(REQUIRED, (_, whole, named) => `later("${whole ?? named}")`)
  // It is read as Latin-1, which takes half the memory of a text with other letters. Those are escaped in strings, and
  // a comment can do without.
  const foreign = /^.*[^\0-\x7f].*$/m.exec(written)
  if (foreign !== null) throw new Error(`a letter that is not ASCII would be misread: ${foreign[0].trim()}`)
  // Names the cache that belongs to this text: V8 itself compares only lengths.
  const name = createHash('sha256').update(written).digest('hex').slice(0, 16)
  writeFileSync(file, `// ${name}\n${written}`)
}

for (const folder of [OUT, LIBRARY_OUT]) rmSync(folder, { recursive: true, force: true })
await build({
  ...SCRIPT,
  entryPoints: [join(ROOT, 'dist', 'commands', 'dispatch.js')],
  outfile: join(OUT, 'main.cjs'),
})
finishScript(OUT)
const { PREPARED_WORDS, answerOf } = await import('../dist/commands/dispatch.js')
const answers = PREPARED_WORDS.map((words) => [words.join(' '), answerOf(words)])
writeFileSync(join(ROOT, 'dist', 'bundle', 'answers.json'), JSON.stringify(Object.fromEntries(answers)))
// A room is evaluated when it is first imported.
const loaders = [...EXPORTS].map(([name, module]) => `exports['${name}'] = () => require('./${module}.js')`).join('\n')
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
for (const [room, module] of EXPORTS) {
  const names = Object.keys(await import(join(ROOT, 'dist', `${module}.js`)))
  const lines = [`import { rooms } from './load.js'`, '', `const room = rooms['${room}']()`]
  const exported = names.map((name) => `export const ${name} = room.${name}`)
  writeFileSync(join(LIBRARY_OUT, `${room}.js`), [...lines, ...exported, ''].join('\n'))
}
