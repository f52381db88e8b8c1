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
    claim: 'a folder within a granted one can be it',
    given: { '@/folder/a/b/f': 'deep' },
    policy: { filesystem: { read: ['@/folder'] } },
    cwd: '@/folder/a/b',
    run: 'cat f ../b/f',
    then: { stdout: 'deepdeep' },
  },
  {
    claim: 'a folder with an odd name can be it',
    given: { '@/a b\n*ä/f': 'odd' },
    policy: { filesystem: { read: ['@/a b\n\\*ä'] } },
    cwd: '@/a b\n*ä',
    run: 'cat f',
    then: { stdout: 'odd' },
  },
  {
    claim: 'as the working directory a folder is not granted',
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
    claim: 'a folder that is not granted keeps its name',
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
    claim: 'a link to a folder leads there, and grants nothing',
    given: { '@/real/f': 'x', '@/link': { link: '@/real' } },
    cwd: '@/link',
    run: 'cat f; echo "read: $?"',
    then: { stdout: 'read: 1\n' },
  },
])
