import { existsSync, readdirSync } from 'node:fs'

import { expect } from 'vitest'

import { area } from '../claim.js'
import type { Area } from '../claim.js'

const REPOSITORY = {
  '@/w/.git/hooks/pre-push': 'hook',
  '@/w/.git/config': '[core]\n',
  '@/w/.git/HEAD': 'ref: refs/heads/main\n',
  '@/w/src/main.c': 'int x;',
}
const WRITE = { filesystem: { write: ['@/w'] } }

export const protectedNames: Area = area('Protected names in write roots', [
  {
    claim: 'hooks and configuration of a repository can be read but not changed',
    given: REPOSITORY,
    policy: WRITE,
    can: [
      ['read', '@/w/.git/hooks/pre-push'],
      ['read', '@/w/.git/config'],
      ['write', '@/w/src/main.c'],
      ['write', '@/w/.git/HEAD'],
      ['read', '@/w/.git/HEAD'],
    ],
    cannot: [
      ['create', '@/w/.git/hooks/pre-commit'],
      ['write', '@/w/.git/hooks/pre-push'],
      ['remove', '@/w/.git/hooks/pre-push'],
      ['write', '@/w/.git/config'],
      ['rename', '@/w/.git/config'],
      ['rename', '@/w/.git/hooks'],
      ['rename', '@/w/.git'],
    ],
  },
  {
    claim: 'protected names are found at any depth',
    given: { '@/w/a/b/c/.git/hooks/x': '', '@/w/a/b/.envrc': 'e', '@/w/a/.vscode/tasks.json': '{}', '@/w/a/free': '' },
    policy: WRITE,
    can: [['write', '@/w/a/free']],
    cannot: [
      ['create', '@/w/a/b/c/.git/hooks/new'],
      ['write', '@/w/a/b/.envrc'],
      ['write', '@/w/a/.vscode/tasks.json'],
      ['rename', '@/w/a/b/c'],
    ],
  },
  {
    claim: 'a protected name that the policy names is an ordinary file',
    given: REPOSITORY,
    policy: { filesystem: { write: ['@/w', '@/w/.git/hooks/**'] } },
    can: [
      ['create', '@/w/.git/hooks/pre-commit'],
      ['write', '@/w/.git/hooks/pre-push'],
    ],
    cannot: [['write', '@/w/.git/config']],
  },
  {
    claim: 'a pattern does not permit the protected names that it matches',
    given: { '@/w/.envrc': 'e', '@/w/package.json': '{}', '@/w/plain': '' },
    policy: { filesystem: { write: ['@/w/*'] } },
    can: [
      ['write', '@/w/plain'],
      ['read', '@/w/.envrc'],
    ],
    cannot: [['write', '@/w/.envrc']],
  },
  {
    claim: 'new files can be created in a folder with protected names',
    given: REPOSITORY,
    policy: WRITE,
    can: [
      ['create', '@/w/new'],
      ['create', '@/w/src/new'],
      ['create', '@/w/.git/new'],
    ],
    cannot: [['write', '@/w/.git/config']],
  },
  {
    claim: 'a protected file that appears during a call is renamed and reported',
    given: { '@/w/': '' },
    policy: WRITE,
    run: 'echo evil > @/w/.envrc',
    then: { anyEnd: true, violations: [{ kind: 'protected', path: '@/w/.envrc' }] },
    leaves: { '@/w/.envrc': null },
  },
  {
    claim: 'a protected file that is moved into place is renamed',
    given: { '@/w/plain': 'evil' },
    policy: WRITE,
    run: 'mkdir @/w/sub; mv @/w/plain @/w/sub/.bashrc',
    then: { anyEnd: true, violations: [{ kind: 'protected', path: '@/w/sub/.bashrc' }] },
    leaves: { '@/w/sub/.bashrc': null },
  },
  {
    claim: 'a protected name that appears during the call ends it',
    given: { '@/w/': '' },
    policy: WRITE,
    run: 'echo evil > @/w/.envrc; sleep 300',
    then: { signal: 9, violations: [{ kind: 'protected', path: '@/w/.envrc' }] },
    leaves: { '@/w/.envrc': null },
  },
  {
    claim: 'a repository can be created, used and cloned during a call',
    given: { '@/w/': '' },
    policy: {
      ...WRITE,
      environment: ['GIT_AUTHOR_NAME=a', 'GIT_AUTHOR_EMAIL=a', 'GIT_COMMITTER_NAME=a', 'GIT_COMMITTER_EMAIL=a'],
    },
    run:
      'cd @/w && git init -q one && cd one && echo x > f && git add f && git commit -q -m first && git clone ' +
      '-q . ../two 2> /dev/null && git -C ../two log --oneline | wc -l',
    then: { stdout: '1\n' },
    leaves: { '@/w/two/f': 'x\n' },
  },
  {
    claim: 'a hook in a repository that appears during a call is disabled and reported',
    given: { '@/w/': '' },
    policy: WRITE,
    run: 'git init -q @/w/r; echo evil > @/w/r/.git/hooks/pre-commit',
    then: { anyEnd: true, violations: [{ kind: 'protected', path: '@/w/r/.git/hooks/pre-commit' }] },
    leaves: { '@/w/r/.git/hooks/pre-commit': null },
  },
  ...[
    ['a setting', '[core]\n\tfsmonitor = /evil\n'],
    ['a setting behind its section', '[core] fsmonitor = /evil # ]\n'],
    ['a setting behind a quoted section', '[core "x"] sshCommand = evil # "]\n'],
    [
      'a setting behind a comment that is longer than a line may be',
      `[pager]\n#${'x'.repeat(4094)}[submodule "x"]\n branch = /evil\n`,
    ],
    ['an alias', '[alias]\n\tstatus = !evil\n'],
    ['an include', '[include]\n\tpath = ../evil\n'],
    ['a continued line', '[core]\n\tbare = false\\\n\n\tfsmonitor = evil\n'],
    ['a program in quotes as the place of a remote', '[remote "origin"]\n\turl = evil:"":anything\n'],
  ].map(([what = '', text = '']) => ({
    claim: `${what} of a new repository that makes git run something is disabled`,
    given: { '@/config': text, '@/w/': '' },
    policy: { filesystem: { read: ['@/config'], write: ['@/w'] } },
    run: 'git init -q @/w/r; cat @/config > @/w/r/.git/config',
    then: { anyEnd: true as const, violations: [{ kind: 'protected' as const, path: '@/w/r/.git/config' }] },
    leaves: { '@/w/r/.git/config': null },
  })),
  {
    claim: 'a pipe as the configuration of a new repository is disabled, and nobody waits for it',
    given: { '@/w/': '' },
    policy: WRITE,
    run: 'git init -q @/w/r; rm @/w/r/.git/config; mkfifo @/w/r/.git/config',
    then: { anyEnd: true, violations: [{ kind: 'protected', path: '@/w/r/.git/config' }] },
    leaves: { '@/w/r/.git/config': null },
  },
  {
    claim: 'a renamed file keeps its content under a name that no program reads',
    given: { '@/w/': '' },
    tell: async ({ run, at, read }) => {
      const { violations } = await run('echo mine > @/w/plain; mv @/w/plain @/w/.profile', { policy: WRITE })
      const [aside = ''] = readdirSync(at('@/w'))
      expect(violations).toMatchObject([{ kind: 'protected', aside: expect.stringContaining(aside) as string }])
      expect(aside).not.toBe('.profile')
      expect(read(`@/w/${aside}`)).toBe('mine\n')
    },
  },
  {
    claim: 'a repository that the user creates between two calls is protected in the second',
    given: { '@/w/': '' },
    tell: async ({ run, give, at }) => {
      await run('true', { policy: WRITE })
      give({ '@/w/r/.git/hooks/': '' })
      const { violations } = await run('echo evil > @/w/r/.git/hooks/pre-commit', { policy: WRITE })
      expect(existsSync(at('@/w/r/.git/hooks/pre-commit'))).toBe(false)
      expect(violations).toMatchObject([
        { kind: 'file', access: 'write', path: at('@/w/r/.git/hooks/pre-commit'), reason: { kind: 'protected' } },
      ])
    },
  },
  {
    claim: 'a file that the user creates between two calls stays',
    given: { '@/w/': '' },
    tell: async ({ run, give, read }) => {
      await run('true', { policy: WRITE })
      give({ '@/w/.envrc': 'mine' })
      const { violations } = await run('cat @/w/.envrc', { policy: WRITE })
      expect(violations).toEqual([])
      expect(read('@/w/.envrc')).toBe('mine')
    },
  },
])
