// Tools of which the analysis says something else than a careful reader.
import { NOTES, NOTHING, READ, SHADOW, missed, withRun } from './further-case.js'
import type { Missed } from './further-case.js'

export const MISSED: readonly Missed[] = [
  missed(
    [],
    'passed on as a value, so only the kind of deed is judged',
    withRun('a function in an array, beside a grant', SHADOW, NOTES, READ, "() => [readFileSync][0]!('/etc/shadow')"),
  ),
  missed(
    [],
    'passed on as a value, so only the kind of deed is judged',
    withRun(
      'a function as a default parameter, beside a grant',
      SHADOW,
      NOTES,
      READ,
      "(_input, read = readFileSync) => read('/etc/shadow')",
    ),
  ),
  missed(
    [],
    'passed on as a value, so only the kind of deed is judged',
    withRun(
      'a function that returns the function, beside a grant',
      SHADOW,
      NOTES,
      `${READ}\nconst reader = () => readFileSync`,
      "() => reader()('/etc/shadow')",
    ),
  ),
  missed(
    [],
    'passed on as a value, so only the kind of deed is judged',
    withRun(
      'Reflect.apply, beside a grant',
      SHADOW,
      NOTES,
      READ,
      "() => Reflect.apply(readFileSync, undefined, ['/etc/shadow'])",
    ),
  ),
  missed(
    ['opaque'],
    'a file of the project is only entered if the name is written in the import',
    withRun(
      'import.meta.resolve',
      SHADOW,
      NOTES,
      '',
      "async () => (await import(import.meta.resolve('./lib.mjs'))).get()",
      { 'lib.mjs': `${READ}\nexport const get = () => readFileSync('/etc/shadow')` },
    ),
  ),
  missed(
    [],
    'only assignments to a plain name are seen',
    withRun(
      'a variable that is set by a pattern',
      SHADOW,
      NOTES,
      READ,
      "() => { let path = 'notes/a'; [path] = ['/etc/shadow']; return readFileSync(path) }",
    ),
  ),
  missed(
    [],
    'elements of written arrays are unknown',
    withRun(
      'a variable of a loop',
      SHADOW,
      NOTES,
      READ,
      "() => { const found = []; for (const path of ['/etc/shadow']) found.push(readFileSync(path)); return found }",
    ),
  ),
  missed(
    [],
    'only assignments to a plain name are seen',
    withRun(
      'an outer variable that a loop sets',
      SHADOW,
      NOTES,
      READ,
      "() => { let path = 'notes/a'; for (path of ['/etc/shadow']) break; return readFileSync(path) }",
    ),
  ),
  missed(
    [],
    'elements of written arrays are unknown',
    withRun(
      'an array of paths with map',
      SHADOW,
      NOTES,
      READ,
      "() => ['notes/a', '/etc/shadow'].map((path) => readFileSync(path))",
    ),
  ),
  missed(
    [],
    'what own functions return is unknown',
    withRun(
      'a path that an own function returns',
      SHADOW,
      NOTES,
      `${READ}\nconst place = () => '/etc/shadow'`,
      '() => readFileSync(place())',
    ),
  ),
  missed(
    [],
    'tagged templates are unknown',
    withRun('String.raw', SHADOW, NOTES, READ, '() => readFileSync(String.raw`/etc/shadow`)'),
  ),
  missed(
    [],
    'join of an array counts as join of node:path',
    withRun('parts that join as an array', SHADOW, NOTES, READ, "() => readFileSync(['', 'etc', 'shadow'].join('/'))"),
  ),
  missed(
    [],
    'elements of written arrays are unknown',
    withRun(
      'a member of an array',
      SHADOW,
      NOTES,
      `${READ}\nconst PATHS = ['/etc/shadow'] as const`,
      '() => readFileSync(PATHS[0])',
    ),
  ),
  missed(
    [],
    'arguments of `new` are not given to parameters',
    withRun(
      'a path of a class that is given to its constructor',
      SHADOW,
      NOTES,
      `${READ}\nclass Files { constructor(private readonly path: string) {}\n get() { return readFileSync(this.path) } }`,
      "() => new Files('/etc/shadow').get()",
    ),
  ),
  missed(
    [],
    '`+=` counts as `=`',
    withRun(
      'a text that grows',
      SHADOW,
      NOTES,
      READ,
      "() => { let path = '/etc'; path += '/shadow'; return readFileSync(path) }",
    ),
  ),
  missed(
    ['opaque'],
    'chdir is not seen',
    withRun(
      'another folder to work in',
      ['reads /etc/shadow'],
      '{ filesystem: { read: ["."] } }',
      READ,
      "() => { process.chdir('/etc'); return readFileSync('shadow') }",
    ),
  ),
  missed(
    [],
    'the initial value counts as the only one',
    withRun(
      'a URL whose host is set again',
      ['sends GET to evil.example'],
      '{ network: ["api.example.org"] }',
      '',
      "() => { const url = new URL('https://api.example.org/'); url.host = 'evil.example'; return fetch(url) }",
    ),
  ),
  missed(
    [],
    'calls by the interface are not among those that give values',
    withRun(
      'a method called by its class and by its interface',
      SHADOW,
      NOTES,
      `${READ}\ninterface Source { get(path: string): unknown }\nclass Files implements Source { get(path: string) { return readFileSync(path) } }\nconst files = new Files()\nconst source: Source = files`,
      "() => [files.get('notes/a'), source.get('/etc/shadow')]",
    ),
  ),
  missed(
    [],
    'calls in brackets are not among those that give values',
    withRun(
      'a method called by its name and in brackets',
      SHADOW,
      NOTES,
      `${READ}\nconst files = { get: (path: string) => readFileSync(path) }`,
      "() => [files.get('notes/a'), files['get']('/etc/shadow')]",
    ),
  ),
  missed(
    ['connects to hosts'],
    'not in the table',
    withRun(
      'the class Socket',
      ['connects to db.example.org:5432'],
      NOTHING,
      "import { Socket } from 'node:net'",
      "() => new Socket().connect(5432, 'db.example.org')",
    ),
  ),
  missed(
    ['connects to hosts'],
    'not in the table',
    withRun(
      'the class Resolver',
      ['connects to api.example.org'],
      NOTHING,
      "import { Resolver } from 'node:dns/promises'",
      "() => new Resolver().resolve4('api.example.org')",
    ),
  ),
  missed(
    [],
    'not in the table',
    withRun(
      'a file of variables',
      ['reads /etc/default/locale'],
      NOTES,
      '',
      "() => process.loadEnvFile('/etc/default/locale')",
    ),
  ),
  missed(
    [],
    'defaults in patterns are unknown',
    withRun('a default of the input', SHADOW, NOTES, READ, "({ path = '/etc/shadow' }) => readFileSync(path)"),
  ),
  missed(
    [],
    'destructured texts are unknown',
    withRun(
      'a destructured constant',
      SHADOW,
      NOTES,
      `${READ}\nconst PATHS = { users: '/etc/shadow' } as const\nconst { users } = PATHS`,
      '() => readFileSync(users)',
    ),
  ),
  missed(
    [],
    'unknown',
    withRun('a path as bytes', SHADOW, NOTES, READ, "() => readFileSync(Buffer.from('/etc/shadow'))"),
  ),
  missed(
    [],
    'a spread counts as one argument',
    withRun(
      'arguments behind a spread',
      ['writes /srv/a'],
      '{ filesystem: { read: ["notes/**"], write: ["out"] } }',
      "import { copyFileSync } from 'node:fs'\nconst copy = (from: string, to: string, _label?: string) => copyFileSync(from, to)\nconst both = ['notes/a', '/srv/a'] as const",
      "() => copy(...both, 'out/a')",
    ),
  ),
  missed(
    ['writes files'],
    'not in the table',
    withRun(
      'a report of the process',
      ['writes ./out/report.json'],
      NOTES,
      '',
      "() => process.report.writeReport('out/report.json')",
    ),
  ),
  missed(
    [],
    'not in the table',
    withRun(
      'a class of another class of Node',
      SHADOW,
      NOTES,
      "import { ReadStream } from 'node:fs'\nclass Shadow extends ReadStream { constructor() { super('/etc/shadow' as never) } }",
      '() => new Shadow()',
    ),
  ),
  missed(
    [],
    'passed on as a value, so only the kind of deed is judged',
    withRun(
      'setTimeout with a function of Node, beside a grant',
      SHADOW,
      NOTES,
      "import { readFile } from 'node:fs'",
      "() => setTimeout(readFile, 0, '/etc/shadow', () => undefined)",
    ),
  ),
  missed(
    ['opaque'],
    'the class is of the project',
    withRun(
      'clean: a copy by the constructor',
      [],
      NOTHING,
      'class Point { constructor(readonly x: number) {}\n moved(by: number): this { return new (this.constructor as any)(this.x + by) } }',
      '({ x }) => new Point(x).moved(1).x',
    ),
  ),
]
