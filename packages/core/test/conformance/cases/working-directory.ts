import { area } from '../claim.js'
import type { Area } from '../claim.js'

export const workingDirectory: Area = area('Working directory', [
  {
    claim: 'a granted folder is the working directory, for relative paths too',
    given: { '@/folder/f': 'here' },
    policy: { filesystem: { read: ['@/folder'] } },
    cwd: '@/folder',
    run: 'pwd; cat f',
    then: { stdout: '@/folder\nhere' },
  },
  {
    claim: 'a folder inside a granted one can be the working directory',
    given: { '@/folder/a/b/f': 'deep' },
    policy: { filesystem: { read: ['@/folder'] } },
    cwd: '@/folder/a/b',
    run: 'cat f ../b/f',
    then: { stdout: 'deepdeep' },
  },
  {
    claim: 'a folder with an odd name can be the working directory',
    given: { '@/a b\n*ä/f': 'odd' },
    policy: { filesystem: { read: ['@/a b\n\\*ä'] } },
    cwd: '@/a b\n*ä',
    run: 'cat f',
    then: { stdout: 'odd' },
  },
  {
    claim: 'being the working directory grants nothing in a folder',
    given: { '@/folder/f': 'secret', '@/folder/sub/': '' },
    cwd: '@/folder',
    can: [['read', '/etc/passwd']],
    cannot: [
      ['read', 'f'],
      ['read', '@/folder/f'],
      ['list', '@/folder/sub'],
      ['create', '@/folder/new'],
      ['create', 'new'],
      ['remove', '@/folder/f'],
    ],
  },
  {
    claim: 'an ungranted working directory keeps its path',
    given: { '@/folder/': '' },
    cwd: '@/folder',
    run: 'pwd',
    then: { stdout: '@/folder\n' },
  },
  { claim: 'a missing folder is refused', cwd: '@/missing', run: ['/bin/true'], then: { refused: 'cwd-missing' } },
  {
    claim: 'a file is refused',
    given: { '@/file': '' },
    cwd: '@/file',
    run: ['/bin/true'],
    then: { refused: 'cwd-missing' },
  },
  {
    claim: 'a folder beneath a file is refused',
    given: { '@/file': '' },
    cwd: '@/file/below',
    run: ['/bin/true'],
    then: { refused: 'cwd-missing' },
  },
  {
    claim: 'a relative path is refused',
    cwd: 'relative',
    run: ['/bin/true'],
    then: { refused: 'policy-invalid-value' },
  },
  {
    claim: 'a link to a folder is followed, and grants nothing',
    given: { '@/real/f': 'x', '@/link': { link: '@/real' } },
    cwd: '@/link',
    run: 'cat f; echo "read: $?"',
    then: { stdout: 'read: 1\n' },
  },
])
