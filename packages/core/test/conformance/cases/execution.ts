import { area } from '../claim.js'
import type { Area } from '../claim.js'

const SCRIPT = { '@/tool': { program: '#!/bin/sh\necho tool; /bin/ls -d /usr > /dev/null 2>&1 && echo listed\n' } }

export const execution: Area = area('Execution', [
  {
    claim: 'exec: none runs only the command itself',
    policy: { exec: 'none' },
    run: 'exec 2> /dev/null; echo builtin; /bin/ls -d /usr; echo $?',
    then: { stdout: 'builtin\n126\n', violations: [{ kind: 'exec', path: '/bin/ls' }] },
  },
  {
    claim: 'exec: none runs a script with its interpreter',
    given: SCRIPT,
    policy: { exec: 'none' },
    run: ['@/tool'],
    then: { exitCode: 126, stdout: 'tool\n', violations: [{ kind: 'exec', path: '/bin/ls' }] },
  },
  {
    claim: 'exec: none runs programs that load libraries',
    policy: { exec: 'none' },
    run: ['/usr/bin/python3', '-c', 'import ssl, json; print("fine")'],
    then: { stdout: 'fine\n' },
  },
  {
    claim: 'a list of programs allows exactly those, by name or path',
    policy: { exec: ['ls', '/bin/cat'] },
    run: 'ls -d /etc; cat < /dev/null; cp --version 2> /dev/null; echo $?',
    then: { stdout: '/etc\n126\n', violations: [{ kind: 'exec' }, { kind: 'exec' }] },
  },
  {
    claim: 'a missing program cannot be listed',
    policy: { exec: ['no-such-program-here'] },
    run: ['/bin/true'],
    then: { refused: 'grant-inexpressible' },
  },
  {
    claim: 'a copy of a listed program cannot run',
    policy: { exec: ['cp', 'ls'] },
    run: 'exec 2> /dev/null; cp /bin/ls "$TMPDIR/ls"; "$TMPDIR/ls" -d /usr; echo $?',
    then: { stdout: '126\n', violations: [{ kind: 'exec' }] },
  },
  {
    claim: 'exec: all runs every readable program',
    given: SCRIPT,
    policy: { exec: 'all', filesystem: { read: ['@/tool'] } },
    run: '@/tool',
    then: { stdout: 'tool\nlisted\n' },
  },
  {
    claim: 'a program without a read grant cannot run',
    given: SCRIPT,
    policy: { exec: 'all' },
    run: 'exec 2> /dev/null; @/tool; test $? -ge 126',
    then: { stdout: '' },
  },
])
