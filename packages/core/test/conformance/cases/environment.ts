import { expect } from 'vitest'

import { area } from '../claim.js'
import type { Area } from '../claim.js'
import { textOf } from '../stage.js'

const variablesIn = (environment: Uint8Array): Readonly<Record<string, string>> =>
  Object.fromEntries(
    textOf(environment)
      .split('\0')
      .slice(0, -1)
      .map((entry) => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)]),
  )

export const environment: Area = area('Environment', [
  {
    claim: 'a program gets exactly the declared variables and three that describe its cell',
    tell: async ({ run }) => {
      const hostEnvironment = { PASSED: 'p', SECRET: 's', LANG: 'C.UTF-8' }
      const { stdout } = await run(['/usr/bin/env', '-0'], {
        policy: { environment: ['PASSED', 'GIVEN=g', 'NOT_THERE'] },
        hostEnvironment,
      })
      // A fourth keeps git from settings of the system that are there and closed, in the form that cannot hide them.
      const { PATH, HOME, TMPDIR, GIT_CONFIG_NOSYSTEM = '1', ...rest } = variablesIn(stdout)
      expect(rest).toEqual({ PASSED: 'p', GIVEN: 'g' })
      expect(GIT_CONFIG_NOSYSTEM).toBe('1')
      expect(PATH).toMatch(/^[/a-z:]+$/)
      expect(HOME).toBe(TMPDIR)
    },
  },
  {
    claim: 'values arrive byte for byte: empty, with line breaks, equals signs, Unicode',
    tell: async ({ run }) => {
      const values = { EMPTY: '', LINES: 'a\nb\n', EQUALS: 'a=b=c', UNICODE: 'äö😀', SPACES: '  x  ' }
      const { stdout } = await run(['/usr/bin/env', '-0'], {
        policy: { environment: Object.keys(values) },
        hostEnvironment: values,
      })
      expect(variablesIn(stdout)).toMatchObject(values)
    },
  },
  {
    claim: "a declared value wins over the cell's own",
    run: 'echo $HOME',
    policy: { environment: ['HOME=/somewhere'] },
    then: { stdout: '/somewhere\n' },
  },
  {
    claim: 'the process table shows the same environment',
    run: ['/bin/grep', '-c', 'SECRET', '/proc/self/environ'],
    hostEnvironment: { SECRET: 'x' },
    then: { exitCode: 1, stdout: '0\n' },
  },
  {
    claim: 'a granted search path applies only inside the program',
    run: ['own-tool'],
    given: { '@/bin/own-tool': { program: '#!/bin/sh\n' } },
    policy: { environment: ['PATH=@/bin'] },
    then: { refused: 'program-not-found' },
  },
  {
    claim: 'new files have an ordinary mode',
    given: { '@/out/': '' },
    policy: { filesystem: { write: ['@/out'] } },
    run: 'echo x > @/out/f; stat -c %a @/out/f',
    then: { stdout: '644\n' },
  },
])
