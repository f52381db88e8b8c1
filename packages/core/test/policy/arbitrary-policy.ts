// Random policies over a small vocabulary, so that two of them often overlap.
import fc from 'fast-check'

const name = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('a', 'b', 'ab') },
  fc.constantFrom('.git', 'hooks', 'package.json', '.vscode', 'node_modules'),
)
const wildcard = fc.constantFrom('*', 'a*', '*b', '?', '*a*', '?b', '*.json')

const segment = fc.oneof(
  { weight: 4, arbitrary: name },
  { weight: 2, arbitrary: wildcard },
  { weight: 2, arbitrary: fc.constant('**') },
  fc.constant('{a,b}'),
)

const start = fc.constantFrom('/', '/d/', '~/', './', '../', '/home/')

export const grantGlob: fc.Arbitrary<string> = fc
  .tuple(start, fc.array(segment, { minLength: 1, maxLength: 3 }))
  .map(([anchor, segments]) => `${anchor}${segments.join('/')}`)

export const glob: fc.Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: grantGlob },
  grantGlob.map((text) => `!${text}`),
)

/** Paths that such globs speak of. */
export const somePath: fc.Arbitrary<string> = fc
  .tuple(
    fc.constantFrom('/', '/d/', '/home/', '/home/ann/', '/home/ann/project/'),
    fc.array(fc.oneof(name, fc.constantFrom('ba', 'aa', 'x.json')), { maxLength: 4 }),
  )
  .map(([folder, names]) => `${folder}${names.join('/')}`)

const globs = fc.array(glob, { maxLength: 4 })

const host = fc.constantFrom(
  'a.org',
  'b.a.org',
  'c.b.a.org',
  '*.a.org',
  '*.b.a.org',
  'a.org:443',
  'b.a.org:22',
  '*.a.org:22',
  '10.0.0.0/8',
  '10.1.0.0/16',
  '10.1.2.3',
  '10.1.2.3:22',
  '::/0',
  'fd00::1',
)
const methods = fc.uniqueArray(fc.constantFrom('GET', 'HEAD', 'POST', 'DELETE'), { minLength: 1, maxLength: 3 })
const urlPath = fc.constantFrom('/', '/a', '/a/**', '/**', '/a/*', '/*/b', '/**/b', '/{a,b}', '/a*')
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 1 })

export const hostEntry: fc.Arbitrary<unknown> = fc.oneof(
  host,
  fc.record({
    host,
    methods: optional(methods),
    paths: optional(fc.uniqueArray(urlPath, { minLength: 1, maxLength: 2 })),
    action: fc.constantFrom('allow', 'allow', 'deny'),
  }),
  fc.record({ host, action: fc.constant('direct') }),
)

const section = <T>(list: fc.Arbitrary<T>, ...words: readonly string[]) =>
  fc.oneof({ weight: 5, arbitrary: list }, fc.constantFrom(undefined, 'none', ...words))

export const network: fc.Arbitrary<unknown> = section<unknown>(fc.array(hostEntry, { maxLength: 4 }), 'all')

const size = fc.constantFrom('64M', '1.5G', 4_194_304, '2MiB')
const duration = fc.constantFrom('500ms', '30s', '1.5m', '1h')
const count = fc.integer({ min: 1, max: 64 })

export const limits: fc.Arbitrary<unknown> = fc.record(
  {
    memory: size,
    processes: count,
    cpu: duration,
    wall: duration,
    output: size,
    openFiles: count,
    fileSize: size,
    scratch: size,
  },
  { requiredKeys: [] },
)

export const environment: fc.Arbitrary<unknown> = section<unknown>(
  fc.uniqueArray(fc.constantFrom('LANG', 'TZ=UTC', 'A=1', 'HOME'), { maxLength: 3 }),
)
const credentialHost = fc.oneof(host, fc.constantFrom<unknown>(['a.org'], ['a.org', 'b.a.org'], [], 'a/b'))
const injection: fc.Arbitrary<unknown> = fc.oneof(
  fc.record({
    host: credentialHost,
    header: fc.constantFrom('Authorization', 'X-Key', 'hOst', 'a b'),
    format: optional(fc.constantFrom('Bearer {value}', '{value}', 'no', ' {value}')),
  }),
  fc.record({
    host: credentialHost,
    as: fc.constantFrom('bearer', 'header', 'placeholder', 'client-certificate', 'header '),
  }),
  fc.record({ host: credentialHost, as: fc.constant('basic'), user: optional(fc.constantFrom('', 'git', 'a:b')) }),
  fc.record({
    host: credentialHost,
    as: fc.constant('query'),
    parameter: optional(fc.constantFrom('key', 'a&b')),
    user: optional(fc.constant('x')),
  }),
  fc.record({
    host: credentialHost,
    as: fc.constant('aws-sigv4'),
    service: optional(fc.constantFrom('s3', 's 3')),
    region: optional(fc.constant('eu-west-1')),
  }),
)

export const credentials: fc.Arbitrary<unknown> = section<unknown>(
  fc.array(
    fc.record({
      id: fc.constantFrom('token', 'key', 'A b'),
      inject: fc.oneof(injection, fc.array(injection, { maxLength: 2 })),
      placeholder: optional(
        fc.constantFrom<unknown>(
          'TOKEN',
          'A',
          '1X',
          { name: 'TOKEN' },
          { name: 'KEY', text: 'a-stand-in' },
          { name: 'KEY', text: 'short' },
          { text: 'a-stand-in' },
        ),
      ),
    }),
    { maxLength: 2 },
  ),
)

export const exec: fc.Arbitrary<unknown> = section<unknown>(
  fc.array(fc.constantFrom('git', 'sh', '/usr/bin/make', './build.sh'), { maxLength: 3 }),
  'all',
)
export const filesystem: fc.Arbitrary<unknown> = fc.record(
  { read: section<unknown>(globs), write: section<unknown>(globs) },
  { requiredKeys: [] },
)

/** Whatever has a wrong combination of network entries or class is refused by the parser; callers filter. */
export const policyValue: fc.Arbitrary<Readonly<Record<string, unknown>>> = fc.record(
  {
    risk: fc.constantFrom('low', 'medium', 'high', 'critical', 'unknown'),
    filesystem,
    network,
    egress_class: fc.constantFrom('none', 'read_only', 'write'),
    environment,
    credentials: optional(credentials),
    exec,
    limits,
    presets: fc.subarray(['system', 'toolchains', 'workspace']),
    require: fc.subarray(['mount-namespace', 'landlock', 'seccomp']),
  },
  { requiredKeys: [] },
)
