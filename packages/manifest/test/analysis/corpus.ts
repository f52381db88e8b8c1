// Small tools, half of which do more than their policy grants. `does`: what the analysis must say of each.
export interface Case {
  readonly claim: string
  readonly policy: string
  /** Before the tool, at the top of its file. */
  readonly before?: string
  readonly run?: string
  /** In place of `run`, such as `module` and `export`. */
  readonly options?: string
  /** Other files of the project. */
  readonly files?: Readonly<Record<string, string>>
  readonly does: readonly string[]
}

const READS_NOTES = '{ filesystem: { read: ["notes/**"] } }'
const NOTHING = '{}'
const OPAQUE = 'opaque'

const pair = (
  claim: string,
  parts: Omit<Case, 'claim' | 'policy' | 'does'>,
  violating: readonly string[],
  clean: string,
  narrow: string = NOTHING,
): readonly Case[] => [
  { ...parts, claim: `${claim}, beyond its policy`, policy: narrow, does: violating },
  { ...parts, claim: `${claim}, as its policy says`, policy: clean, does: [] },
]

const READS_ETC = '{ filesystem: { read: ["/etc/shadow"] } }'
const reads = (claim: string, parts: Omit<Case, 'claim' | 'policy' | 'does'>): readonly Case[] =>
  pair(claim, parts, ['reads /etc/shadow'], READS_ETC, READS_NOTES)

export const CORPUS: readonly Case[] = [
  ...reads('a named import', {
    before: "import { readFileSync } from 'node:fs'",
    run: "() => readFileSync('/etc/shadow', 'utf8')",
  }),
  ...reads('an import with another name', {
    before: "import { readFileSync as look } from 'fs'",
    run: "() => look('/etc/shadow', 'utf8')",
  }),
  ...reads('a namespace', { before: "import * as fs from 'node:fs'", run: "() => fs.readFileSync('/etc/shadow')" }),
  ...reads('a default import', { before: "import fs from 'node:fs'", run: "() => fs.readFileSync('/etc/shadow')" }),
  ...reads('an import inside of the function', {
    run: "async () => (await import('node:fs/promises')).readFile('/etc/shadow', 'utf8')",
  }),
  ...reads('a destructured import inside of the function', {
    run: "async () => { const { readFile: get } = await import('node:fs/promises'); return get('/etc/shadow') }",
  }),
  ...reads('an import with then', {
    run: "() => import('node:fs').then(({ promises }) => promises.readFile('/etc/shadow'))",
  }),
  ...reads('the member promises', {
    before: "import { promises } from 'node:fs'",
    run: "() => promises.readFile('/etc/shadow')",
  }),
  ...reads('an alias of an alias', {
    before: "import fs from 'node:fs'\nconst files = fs\nconst { readFileSync: a } = files\nconst b = a",
    run: "() => b('/etc/shadow')",
  }),
  ...reads('a member with a constant name', {
    before: "import fs from 'node:fs'\nconst NAME = 'readFileSync'",
    run: "() => fs[NAME]('/etc/shadow')",
  }),
  ...reads('require made by createRequire', {
    before: "import { createRequire } from 'node:module'\nconst load = createRequire(import.meta.url)",
    run: "() => load('node:fs').readFileSync('/etc/shadow')",
  }),
  ...reads('getBuiltinModule', { run: "() => process.getBuiltinModule('node:fs').readFileSync('/etc/shadow')" }),
  ...reads('promisify', {
    before:
      "import { readFile } from 'node:fs'\nimport { promisify } from 'node:util'\nconst get = promisify(readFile)",
    run: "() => get('/etc/shadow')",
  }),
  ...reads('call', {
    before: "import { readFileSync } from 'node:fs'",
    run: "() => readFileSync.call(undefined, '/etc/shadow')",
  }),
  ...reads('bind', {
    before: "import fs from 'node:fs'\nconst get = fs.readFileSync.bind(fs)",
    run: "() => get('/etc/shadow')",
  }),
  ...reads('Reflect.get', {
    before: "import fs from 'node:fs'",
    run: "() => Reflect.get(fs, 'readFileSync')('/etc/shadow')",
  }),
  ...reads('a helper of the same file', {
    before: "import { readFileSync } from 'node:fs'\nfunction get(path: string) { return readFileSync(path, 'utf8') }",
    run: "() => get('/etc/shadow')",
  }),
  ...reads('a helper behind a helper', {
    before:
      "import { readFileSync } from 'node:fs'\nconst inner = (path: string) => readFileSync(path)\n" +
      'const outer = (folder: string, name: string) => inner(`${folder}/${name}`)',
    run: "() => outer('/etc', 'shadow')",
  }),
  ...reads('a helper of another file', {
    before: "import { get } from './lib.js'",
    files: { 'lib.ts': "import { readFileSync } from 'node:fs'\nexport const get = () => readFileSync('/etc/shadow')" },
    run: '() => get()',
  }),
  ...reads('a module that is exported again', {
    before: "import { get } from './lib.js'",
    files: {
      'lib.ts': "export { get } from './inner.js'",
      'inner.ts': "export { readFileSync as get } from 'node:fs'",
    },
    run: "() => get('/etc/shadow')",
  }),
  ...reads('the code at the top of a module', {
    before: "import { VALUE } from './lib.js'",
    files: { 'lib.ts': "import { readFileSync } from 'node:fs'\nexport const VALUE = 1\nreadFileSync('/etc/shadow')" },
    run: '() => VALUE',
  }),
  ...reads('a method of a class', {
    before: "import { readFileSync } from 'node:fs'\nclass Files { get() { return readFileSync('/etc/shadow') } }",
    run: '() => new Files().get()',
  }),
  ...reads('a method behind an interface', {
    before:
      "import { readFileSync } from 'node:fs'\ninterface Source { get(): unknown }\n" +
      "class Files implements Source { get() { return readFileSync('/etc/shadow') } }\n" +
      'const source: Source = new Files()',
    run: '() => source.get()',
  }),
  ...reads('a method of a parent class', {
    before:
      "import { readFileSync } from 'node:fs'\nclass Base { get() { return readFileSync('/etc/shadow') } }\n" +
      'class Files extends Base {}',
    run: '() => new Files().get()',
  }),
  ...reads('a static block', {
    before:
      "import { readFileSync } from 'node:fs'\nclass Files { static text: unknown\n" +
      " static { this.text = readFileSync('/etc/shadow') } }",
    run: '() => Files.text',
  }),
  ...reads('a getter', {
    before: "import { readFileSync } from 'node:fs'\nclass Files { get text() { return readFileSync('/etc/shadow') } }",
    run: '() => new Files().text',
  }),
  ...reads('an object of functions', {
    before: "import { readFileSync } from 'node:fs'\nconst files = { get: () => readFileSync('/etc/shadow') }",
    run: '() => files.get()',
  }),
  ...reads('a callback', {
    before:
      "import { readFileSync } from 'node:fs'\nconst run = (task: () => unknown) => task()\n" +
      "const task = () => readFileSync('/etc/shadow')",
    run: '() => run(task)',
  }),
  ...reads('a joined path', {
    before: "import { readFileSync } from 'node:fs'\nimport { join } from 'node:path'",
    run: "() => readFileSync(join('/etc', '.', 'shadow'))",
  }),
  ...reads('a path that leads up', {
    before: "import { readFileSync } from 'node:fs'",
    run: "() => readFileSync('notes/../../../../etc/shadow')",
  }).map((each) => ({ ...each, claim: `${each.claim} from the workspace` })),
  ...reads('a URL of a file', {
    before: "import { readFileSync } from 'node:fs'",
    run: "() => readFileSync(new URL('file:///etc/shadow'))",
  }),
  ...reads('a template', {
    before: "import { readFileSync } from 'node:fs'\nconst ETC = '/etc'",
    run: '() => readFileSync(`${ETC}/shadow`)',
  }),
  ...reads('a member of a constant object', {
    before: "import { readFileSync } from 'node:fs'\nconst PATHS = { users: '/etc/shadow' } as const",
    run: '() => readFileSync(PATHS.users)',
  }),
  ...reads('a flag of open', {
    before: "import { open } from 'node:fs/promises'",
    run: "() => open('/etc/shadow', 'r')",
  }),
  ...pair(
    'a function of Node that is passed on',
    { before: "import { readFileSync } from 'node:fs'", run: '({ names }) => names.map(readFileSync)' },
    ['reads files'],
    READS_NOTES,
  ),
  ...pair(
    'a path of the input',
    { before: "import { readFileSync } from 'node:fs'", run: '({ path }) => readFileSync(path)' },
    ['reads files'],
    READS_NOTES,
  ),
  ...pair(
    'a path that begins with a constant',
    { before: "import { readFileSync } from 'node:fs'", run: '({ name }) => readFileSync(`/srv/${name}`)' },
    ['reads files in /srv'],
    '{ filesystem: { read: ["/srv/public/**"] } }',
    READS_NOTES,
  ),
  ...pair(
    'a file that is written',
    { before: "import { writeFileSync } from 'node:fs'", run: "() => writeFileSync('out/a.txt', '')" },
    ['writes ./out/a.txt'],
    '{ filesystem: { write: ["./out/*.txt"] } }',
    '{ filesystem: { read: ["."], write: ["./out/*.md"] } }',
  ),
  ...pair(
    'a protected name',
    { before: "import { writeFileSync } from 'node:fs'", run: "() => writeFileSync('.git/hooks/pre-commit', '')" },
    ['writes ./.git/hooks/pre-commit'],
    '{ filesystem: { write: ["."  , ".git/hooks/pre-commit"] } }',
    '{ filesystem: { write: ["."] } }',
  ),
  ...pair(
    'a copied file',
    { before: "import { cpSync } from 'node:fs'", run: "() => cpSync('notes/a', '/srv/a')" },
    ['writes /srv/a'],
    '{ filesystem: { read: ["notes/**"], write: ["/srv"] } }',
    READS_NOTES,
  ),
  ...pair(
    'a carved out file',
    { before: "import { readFileSync } from 'node:fs'", run: "() => readFileSync('notes/a.key')" },
    ['reads ./notes/a.key'],
    '{ filesystem: { read: ["notes/**"] } }',
    '{ filesystem: { read: ["notes/**", "!notes/*.key"] } }',
  ),
  ...pair(
    'a request by fetch',
    { run: "() => fetch('https://api.example.org/v1/items')" },
    ['sends GET to api.example.org'],
    '{ network: ["api.example.org"] }',
    '{ network: ["example.org"] }',
  ),
  ...pair(
    'a method',
    { run: "() => fetch('https://api.example.org/v1', { method: 'POST' })" },
    ['sends POST to api.example.org'],
    '{ network: [{ host: "api.example.org", methods: ["POST"] }] }',
    '{ network: [{ host: "api.example.org", methods: ["GET"] }] }',
  ),
  ...pair(
    'fetch of the global object',
    { run: "() => globalThis.fetch('https://api.example.org/')" },
    ['sends GET to api.example.org'],
    '{ network: ["*.example.org"] }',
  ),
  ...pair(
    'a URL with a base',
    { run: "({ id }) => fetch(new URL(`/items/${id}`, 'https://api.example.org'))" },
    ['sends GET to api.example.org'],
    '{ network: ["api.example.org"] }',
    '{ network: ["other.example.org"] }',
  ),
  ...pair(
    'a URL that begins with a host',
    { run: '({ id }) => fetch(`https://api.example.org/items/${id}`)' },
    ['sends GET to api.example.org'],
    '{ network: ["api.example.org"] }',
    '{ network: ["other.example.org"] }',
  ),
  ...pair('a URL of the input', { run: '({ url }) => fetch(url)' }, ['sends requests'], '{ network: ["a.example"] }'),
  ...pair(
    'https.request with options',
    {
      before: "import https from 'node:https'",
      run: "() => https.request({ host: 'api.example.org', path: '/x', method: 'PUT' })",
    },
    ['sends PUT to api.example.org'],
    '{ network: ["api.example.org"] }',
  ),
  ...pair(
    'a connection',
    { before: "import net from 'node:net'", run: "() => net.connect(5432, 'db.example.org')" },
    ['connects to db.example.org:5432'],
    '{ network: ["db.example.org:5432"] }',
    '{ network: ["db.example.org"] }',
  ),
  ...pair(
    'a name that is looked up',
    { before: "import { lookup } from 'node:dns/promises'", run: "() => lookup('api.example.org')" },
    ['connects to api.example.org'],
    '{ network: ["api.example.org"] }',
  ),
  ...pair(
    'a web socket',
    { run: "() => new WebSocket('wss://api.example.org/live')" },
    ['sends GET to api.example.org'],
    '{ network: ["api.example.org"] }',
  ),
  ...pair(
    'a variable',
    { run: '() => process.env.API_TOKEN' },
    ['reads the variable API_TOKEN'],
    '{ environment: ["API_TOKEN"] }',
    '{ environment: ["LANG"] }',
  ),
  ...pair(
    'a variable by its name in brackets',
    { run: "() => process.env['API_TOKEN']" },
    ['reads the variable API_TOKEN'],
    '{ environment: ["API_TOKEN"] }',
  ),
  ...pair(
    'a destructured variable',
    { run: '() => { const { API_TOKEN } = process.env; return API_TOKEN }' },
    ['reads the variable API_TOKEN'],
    '{ environment: ["API_TOKEN"] }',
  ),
  ...pair(
    'env of an imported process',
    { before: "import { env } from 'node:process'", run: '() => env.API_TOKEN' },
    ['reads the variable API_TOKEN'],
    '{ environment: ["API_TOKEN"] }',
  ),
  ...pair(
    'all variables',
    { run: '() => ({ ...process.env })' },
    ['reads environment variables'],
    '{ environment: ["LANG"] }',
  ),
  ...pair(
    'a program',
    { before: "import { spawn } from 'node:child_process'", run: "() => spawn('git', ['status'])" },
    ['starts git'],
    '{ exec: ["git"] }',
    '{ exec: ["sort"] }',
  ),
  ...pair(
    'a command line',
    { before: "import { execSync } from 'node:child_process'", run: "() => execSync('cat notes/* | sort')" },
    ['starts sort'],
    '{ exec: ["sh", "cat", "sort"] }',
    '{ exec: ["sh", "cat"] }',
  ),
  ...pair(
    'a program by its path',
    { before: "import { execFileSync } from 'node:child_process'", run: "() => execFileSync('/usr/bin/git')" },
    ['starts /usr/bin/git'],
    '{ exec: ["/usr/bin/git"] }',
  ),
  ...pair(
    'a program in a shell',
    { before: "import { spawnSync } from 'node:child_process'", run: "() => spawnSync('git', { shell: true })" },
    ['starts sh'],
    '{ exec: ["sh", "git"] }',
    '{ exec: ["git"] }',
  ),
  // What cannot be followed.
  ...(
    [
      ['eval', '({ code }) => eval(code)'],
      ['Function', "() => new Function('return process')()"],
      ['a computed import', '({ name }) => import(name)'],
      ['a computed member of a module', "async ({ name }) => (await import('node:fs'))[name]('/etc/shadow')"],
      ['a computed member of the global object', '({ name }) => globalThis[name]()'],
      ['process as a value', '() => Object.keys(process)'],
      ['the constructor of a function', "() => (() => 0).constructor('return process')()"],
      ['a thread', "async () => new (await import('node:worker_threads')).Worker('./other.js')"],
      ['native code', "() => process.dlopen({ exports: {} }, './addon.node')"],
      ['vm', "async () => (await import('node:vm')).runInThisContext('1')"],
    ] as const
  ).map(([claim, run]): Case => ({ claim: `${claim} is opaque`, policy: NOTHING, run, does: [OPAQUE] })),
  {
    claim: 'a module used as a value is opaque',
    policy: NOTHING,
    before: "import * as fs from 'node:fs'\nconst pass = (value: unknown) => value",
    run: '() => pass(fs)',
    does: [OPAQUE],
  },
  {
    claim: 'a computed require is opaque',
    policy: NOTHING,
    before: "import { createRequire } from 'node:module'\nconst load = createRequire(import.meta.url)",
    run: '({ name }) => load(name)',
    does: [OPAQUE],
  },
  // Clean code that looks like more.
  ...(
    [
      [
        'functions of the project with names of Node',
        'const readFileSync = (text: string) => text',
        "() => readFileSync('/etc/shadow')",
      ],
      ['a type of a module', "import type { Stats } from 'node:fs'", '(stats: Stats) => stats.size'],
      [
        'a dictionary',
        '',
        '({ words }) => { const n: Record<string, number> = {}; for (const w of words) n[w] = 1; return n }',
      ],
      [
        'a table of functions',
        'const table = { a: () => 1, b: () => 2 }',
        "({ key }: { key: 'a' | 'b' }) => table[key]()",
      ],
      ['methods of values', '', '({ text }) => JSON.parse(text).items.map(String).join()'],
      [
        'modules that only compute',
        "import path from 'node:path'\nimport { createHash } from 'node:crypto'",
        "({ a }) => createHash('sha256').update(path.join(a, 'b')).digest('hex')",
      ],
      [
        'the folder of its own',
        "import { writeFileSync } from 'node:fs'\nimport os from 'node:os'\nimport path from 'node:path'",
        "() => writeFileSync(path.join(os.tmpdir(), 'x'), '')",
      ],
      ['variables of every cell', '', '() => process.env.PATH'],
      [
        'a helper that nobody calls',
        "import { readFileSync } from 'node:fs'\nexport const unused = () => readFileSync('/etc/shadow')",
        '() => 1',
      ],
      [
        'a method that nobody calls',
        "import { readFileSync } from 'node:fs'\nclass A { b() { return 1 }\n c() { return readFileSync('/etc/shadow') } }",
        '() => new A().b()',
      ],
      ['a stream of bytes', "import { Readable } from 'node:stream'", '({ parts }) => Readable.from(parts)'],
      ['its own loopback', "import net from 'node:net'", "() => net.connect(8080, 'localhost')"],
    ] as const
  ).map(([claim, before, run]): Case => ({ claim: `clean: ${claim}`, policy: NOTHING, before, run, does: [] })),
]
