// Policies as various as those of real tools: 30 forms, each with and without one thing more.

/**
 * The policy of the tool with a number.
 * @param {number} number
 * @param {boolean} isWider
 * @returns {Readonly<Record<string, unknown>>}
 */
export function policyNumber(number, isWider) {
  const [service, team] = [`svc-${number % 97}`, `team${number % 13}`]
  const or = (/** @type {unknown} */ narrow, /** @type {unknown} */ wide) => (isWider ? wide : narrow)
  /** Only in one of the two. */
  const more = (/** @type {unknown[]} */ ...items) => (isWider ? items : [])
  const less = (/** @type {unknown[]} */ ...items) => (isWider ? [] : items)
  const forms = [
    { filesystem: { read: ['./src/**'], write: ['./out', ...more(`./dist/${service}`)] } },
    { filesystem: { read: [`/data/${service}/**`, ...more(`/data/${team}/**`)] } },
    { network: [`api.${service}.example.com`, ...more(`cdn.${team}.example.com`)] },
    { network: [{ host: `api.${service}.example.com`, methods: ['GET', ...more('POST')] }] },
    { filesystem: { read: ['./**', ...less('!./.env')] } },
    { filesystem: { read: [`~/.config/${service}/**`, ...less(`!~/.config/${service}/*.key`)] } },
    { environment: ['LANG', ...more(`TOKEN_${number % 50}`)] },
    { exec: ['git', ...more(`prog-${service}`)] },
    { limits: { memory: or('256M', '512M'), wall: '30s' } },
    { require: ['seccomp', ...less('landlock')] },
    { presets: ['workspace'], filesystem: { read: more(`/etc/${service}`) } },
    { presets: ['workspace', 'toolchains'], network: or('none', 'all') },
    { filesystem: { write: [`./${service}/**/*.md`, ...more(`./${service}/**/*.txt`)] } },
    { filesystem: { read: ['/srv/**'], write: [`/srv/${service}/cache/**`, ...less(`!/srv/${service}/cache/keep`)] } },
    {
      network: [
        { host: `*.${team}.example.org`, methods: ['GET', 'HEAD'], paths: [or(`/v1/${service}/**`, '/v1/**')] },
      ],
    },
    {
      network: [`gitlab.${team}.example`],
      egress_class: or('read_only', 'write'),
      credentials: [{ id: 'gitlab', inject: { host: `gitlab.${team}.example`, header: 'PRIVATE-TOKEN' } }],
    },
    { filesystem: { read: ['./**'], write: ['./**', '!./.git', ...less(`!./${service}/secret/**`)] } },
    { filesystem: { write: [or('./a/b', './a')] }, exec: 'none' },
    { filesystem: { read: [or(`~/projects/${service}/**`, '~/projects/**')] } },
    { filesystem: { read: ['../shared/**'], write: ['./tmp', ...more(`../shared/${service}`)] } },
    { network: [{ host: '10.0.0.0/8', action: 'deny' }, or(`${team}.internal.example`, '*.internal.example')] },
    { filesystem: { read: [`/var/log/${service}/*.log`, or('!/var/log/**/auth.log', '/usr/share/doc/**')] } },
    { filesystem: { write: [`/tmp/${service}`, ...more('/var/tmp')] }, exec: ['sh', 'make', 'cc'] },
    { exec: or(['/usr/bin/git'], 'all'), filesystem: { read: ['./**'] } },
    {
      presets: ['workspace'],
      exec: 'all',
      network: [`registry.${team}.example`, ...more(`mirror.${service}.example`)],
    },
    { filesystem: { read: ['./docs/**', './README.md'], write: ['./docs/**', ...more('./.git/config')] } },
    {
      filesystem: {
        read: [`./pkg/${service}/**`, `!./pkg/${service}/**/*.pem`, ...less(`!./pkg/${service}/**/.env*`)],
      },
    },
    { environment: ['LANG', 'TZ=UTC', ...more(`X_${number % 31}=1`)], limits: { wall: or('10s', '60s') } },
    { network: [`a.${service}.example:8443`, ...more(`b.${service}.example:5432`)] },
    { filesystem: { read: ['~/**', '!~/.ssh', '!~/.aws', ...less('!~/.gnupg')], write: [`~/.cache/${service}`] } },
  ]
  return forms[number % forms.length] ?? {}
}
