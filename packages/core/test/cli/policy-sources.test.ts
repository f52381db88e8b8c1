import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { beforeEach, describe, expect, test } from 'vitest'

import type { Facts } from './printed.js'

import { cordon, temporaryFolder } from './cordon.js'
import { CONFIG_FOLDER } from './own-folders.js'

const project = temporaryFolder()
const put = (path: string, text: string): void => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}
const ofProject = (name: string, text: string): void => {
  put(join(project, '.cordon/policies', `${name}.yaml`), text)
}
const ofUser = (name: string, text: string): void => {
  put(join(CONFIG_FOLDER, 'policies', `${name}.yaml`), text)
}
const here = (...words: readonly string[]) => cordon(words, { cwd: project })

beforeEach(() => {
  for (const folder of [join(project, '.cordon'), CONFIG_FOLDER]) rmSync(folder, { recursive: true, force: true })
})

const refusal = (code: string, ...texts: readonly string[]) => ({
  status: 125,
  stdout: '',
  stderr: expect.stringMatching(
    new RegExp([code, ...texts].map((text) => text.replaceAll(/[.[\]()$|?*+]/g, '\\$&')).join('[^]*')),
  ) as string,
})

describe('a policy by its name', () => {
  test("is the user's, the project's or a bundled one, and the record says which", () => {
    ofUser('mine', 'limits: { wall: 20s }\n')
    const file = join(project, 'facts')
    expect(here('run', '--policy', 'mine', '--facts', file, '--', 'true')).toEqual({
      status: 0,
      stdout: '',
      stderr: '',
    })
    expect((JSON.parse(readFileSync(file, 'utf8')) as Facts).permission_state.policy_sources).toEqual([
      join(CONFIG_FOLDER, 'policies/mine.yaml'),
    ])
    expect(here('policy', 'list').stdout).toMatch(/^mine +user +/m)
  })

  test('in two sources is refused until the user chooses one', () => {
    ofUser('github', 'limits: { wall: 20s }\n')
    expect(here('run', '--policy', 'github', '--', 'true')).toEqual(
      refusal(
        'usage-error: there are two policies named github: bundled:github and',
        'fix: say which: --policy bundled:github, --policy user:github',
      ),
    )
    expect(here('run', '--policy', 'user:github', '--', 'true').status).toBe(0)
  })

  test('of an untrusted project can narrow, but not grant', () => {
    ofProject(
      'strict',
      'network: [ { host: evil.example, action: deny } ]\nlimits: { wall: 20s }\nfilesystem: { read: [ ' +
        '"!/srv/secret" ] }\n',
    )
    expect(here('run', '--policy', 'strict', '--', 'true').status).toBe(0)
    for (const [section, text] of [
      ['network', 'network: [ evil.example ]'],
      ['read', 'filesystem: { read: [ /etc ] }'],
      ['environment', 'environment: [ AWS_SECRET_ACCESS_KEY ]'],
      ['presets', 'presets: [ workspace ]'],
      ['exec', 'exec: all'],
    ] as const) {
      ofProject('generous', `# a line\n${text}\n`)
      expect(here('run', '--policy', 'generous', '--', 'true')).toEqual(
        refusal(
          'policy-untrusted',
          'generous.yaml',
          `grants ${section};`,
          `add to ${join(CONFIG_FOLDER, 'rules.yaml')}: trusted_projects: [ ${project} ]`,
        ),
      )
    }
    put(join(CONFIG_FOLDER, 'rules.yaml'), `trusted_projects: [ ${project} ]\n`)
    expect(here('run', '--policy', 'generous', '--', 'true').status).toBe(0)
  })

  test('of a project that everybody can write to is refused', () => {
    ofProject('open', 'limits: { wall: 20s }\n')
    chmodSync(join(project, '.cordon/policies/open.yaml'), 0o666)
    expect(here('run', '--policy', 'open', '--', 'true')).toEqual(
      refusal('policy-unsafe', 'open.yaml is not safe to use: every user can write to it'),
    )
  })

  test('with a failing example runs nothing', () => {
    ofUser('wrong', 'network: [ a.example ]\nexamples:\n  match:\n    - GET https://b.example/\n')
    expect(here('run', '--policy', 'wrong', '--', 'true')).toEqual(
      refusal(
        'policy-example-fails',
        'wrong.yaml:4: the example "GET https://b.example/" fails: it should be allowed, and is not',
      ),
    )
    expect(here('policy', 'check', 'wrong')).toMatchObject({
      status: 1,
      stdout: expect.stringContaining('wrong.yaml:4') as string,
    })
    expect(here('policy', 'test', 'wrong')).toMatchObject({
      status: 1,
      stdout: expect.stringContaining('1 examples, 1 wrong') as string,
    })
  })
})

describe('several policies', () => {
  const two = (one: string, other: string) => {
    ofUser('one', one)
    ofUser('two', other)
    return here('policy', 'resolve', 'one', 'two')
  }
  const [one, other] = [join(CONFIG_FOLDER, 'policies/one.yaml'), join(CONFIG_FOLDER, 'policies/two.yaml')]

  test('are joined where they agree, with the place of each', () => {
    const { status, stdout } = two('network:\n  - a.example\n', 'network:\n  - b.example\n  - a.example\n')
    expect(status).toBe(0)
    expect(stdout.split('\n').map((line) => line.replace(/\s+/g, ' '))).toEqual([
      'network:',
      ` - a.example # ${one}:2, ${other}:3`,
      ` - b.example # ${other}:2`,
      '',
    ])
  })

  test.each<[string, string, string, RegExp]>([
    [
      'allow and deny of one host',
      'network:\n  - a.example\n',
      'network:\n  - { host: a.example, action: deny }\n',
      /two\.yaml:2: network: a\.example is denied, and a\.example is allowed at \S*one\.yaml:2/,
    ],
    [
      'a denial that leaves nothing of a grant',
      'network: [ { host: a.b.example, methods: [ GET ] } ]\n',
      'network: [ { host: "*.b.example", action: deny } ]\n',
      /two\.yaml:1: network: \*\.b\.example is denied, and a\.b\.example is allowed at \S*one\.yaml:1/,
    ],
    [
      'direct and filtered',
      'network: [ { host: a.example, action: direct } ]\n',
      'network: [ a.example ]\n',
      /two\.yaml:1: network: a\.example is allowed, and a\.example is direct, where nothing can be checked, at/,
    ],
    [
      'one credential with other contents',
      'network: [ a.example ]\ncredentials:\n  - { id: t, inject: { host: a.example, as: bearer } }\n',
      'network: [ a.example ]\ncredentials: [ { id: t, inject: { host: a.example, header: X-T } } ]\n',
      /two\.yaml:2: credentials: the credential "t" has other contents at \S*one\.yaml:3/,
    ],
    [
      'two credentials for one place of a request',
      'network: [ a.example ]\ncredentials: [ { id: t, inject: { host: a.example, as: bearer } } ]\n',
      'network: [ a.example ]\ncredentials: [ { id: u, inject: { host: a.example, as: basic } } ]\n',
      /"u" would be put into the same place of a request as "t" at/,
    ],
    [
      'one variable with two values',
      'environment: [ A=1 ]\n',
      '\nenvironment: [ A=2 ]\n',
      /two\.yaml:2: environment: A is given otherwise at \S*one\.yaml:1/,
    ],
    [
      'a variable and a stand-in',
      'environment: [ T=1 ]\n',
      'network: [ a.example ]\ncredentials: [ { id: t, inject: { host: a.example, as: bearer }, placeholder: T } ]\n',
      /two\.yaml:2: credentials: T is given otherwise at \S*one\.yaml:1/,
    ],
  ])('conflict: %s', (_, first, second, message) => {
    expect(two(first, second)).toMatchObject({ status: 1, stderr: expect.stringMatching(message) as string })
  })

  test('may carve out of each other', () => {
    expect(
      two(
        'network: [ "*.example" ]\n',
        'network: [ { host: a.example, action: deny }, { host: "*.example", paths: [ /admin ], action: deny } ]\n',
      ).status,
    ).toBe(0)
  })

  test('resolve to a file with the same meaning', () => {
    const { stdout } = here('policy', 'resolve', 'github', 'anthropic', 'aws-bedrock')
    put(join(project, 'all.yaml'), stdout)
    expect(here('policy', 'resolve', './all.yaml').stdout.replaceAll(/ +#.*/g, '')).toBe(
      stdout.replaceAll(/ +#.*/g, ''),
    )
  })
})

describe('the value of a credential', () => {
  const POLICY =
    'network: [ a.example ]\ncredentials: [ { id: my-token, inject: { host: a.example, as: bearer }, ' +
    'placeholder: MY_TOKEN } ]\n'
  const SECRET = 'hunter2-hunter2-hunter2'
  const env = { MY_TOKEN: SECRET, OTHER: `x${SECRET}y` }
  const run = (words: readonly string[], environment: Readonly<Record<string, string>> = {}) =>
    cordon(['run', ...words, '--', 'printenv'], { cwd: project, environment })

  test('without a source stops the command, and the error says how to give it', () => {
    ofUser('mine', POLICY)
    expect(run(['--policy', 'mine'])).toEqual(
      refusal(
        'credential-missing: the credential "my-token" has no value: the variable MY_TOKEN is not set',
        'fix: set MY_TOKEN, or name its source: --secret my-token=SOURCE',
      ),
    )
    expect(run(['--policy', 'mine', '--secret', 'my-token=file:/nonexistent/token'])).toEqual(
      refusal('credential-missing', 'the file /nonexistent/token does not exist'),
    )
    // The error names the absolute path: a relative one does not say which folder is meant.
    expect(run(['--policy', 'mine', '--secret', 'my-token=file:token'])).toEqual(
      refusal(
        'credential-missing',
        `the file ${join(project, 'token')} does not exist`,
        `put the value into ${join(project, 'token')}`,
      ),
    )
    expect(run(['--policy', 'mine', '--secret', 'my-tokne=env:A'])).toEqual(
      refusal('usage-error', 'did you mean my-token?'),
    )
    const typed = run(['--policy', 'mine', '--secret', `my-token=${SECRET}`])
    expect(typed).toEqual(refusal('secret-source-invalid'))
    expect(typed.stderr).not.toContain(SECRET)
  })

  test('and its variable do not reach the command, which gets a placeholder', () => {
    ofUser('mine', POLICY)
    const { status, stdout } = run(['--policy', 'mine'], env)
    expect(status).toBe(0)
    expect(stdout).toContain('MY_TOKEN=placeholder-for-my-token')
    expect(stdout).not.toContain(SECRET)
    expect(run(['--policy', 'mine', '--env', 'OTHER'], env).stdout).not.toContain(SECRET)
    expect(run(['--policy', 'mine', '--env', 'MY_TOKEN'], env)).toEqual(
      refusal('usage-error: --env MY_TOKEN would replace the stand-in for the credential "my-token"'),
    )
    expect(run(['--policy', 'mine', '--secret', 'my-token=env:OTHER', '--env', 'OTHER'], env)).toEqual(
      refusal('credential-exposed: the variable OTHER would show the tool the value of the credential "my-token"'),
    )
  })

  test('comes from secrets.yaml of the user, and first from the command line', () => {
    ofUser('mine', POLICY)
    put(join(CONFIG_FOLDER, 'secrets.yaml'), 'my-token: file:/nonexistent/kept\n')
    expect(run(['--policy', 'mine'], env)).toEqual(refusal('credential-missing', '/nonexistent/kept'))
    expect(run(['--policy', 'mine', '--secret', 'my-token=env:MY_TOKEN'], env).status).toBe(0)
    expect(run(['--policy', 'mine', '--secret', 'my-token=command:printf hunter2-hunter2'], {}).status).toBe(0)
  })

  test('of a source that secrets.yaml misspells is refused with the line of the file', () => {
    ofUser('mine', POLICY)
    const path = join(CONFIG_FOLDER, 'secrets.yaml')
    put(path, '# mine\nmy-token: fil:/kept\n')
    const refused = refusal('secret-source-invalid', `${path}:2: it does not begin with`)
    expect(run(['--policy', 'mine'], env)).toEqual(refused)
  })

  test('is given to a policy file by path only if typed, because the author of the file chose the host', () => {
    put(join(project, 'theirs.yaml'), POLICY.replaceAll('a.example', 'evil.example'))
    put(join(CONFIG_FOLDER, 'secrets.yaml'), 'my-token: env:MY_TOKEN\n')
    expect(run(['--policy', './theirs.yaml'], env)).toEqual(
      refusal('credential-missing', './theirs.yaml:2 is not one of your own policies', '--secret my-token=SOURCE'),
    )
    expect(run(['--policy', './theirs.yaml', '--secret', 'my-token=env:MY_TOKEN'], env).status).toBe(0)
  })
})
