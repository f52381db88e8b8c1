import { expect } from 'vitest'

import { area } from '../claim.js'
import type { Area, Claim } from '../claim.js'
import { textOf } from '../stage.js'

const ownExitCodes = [0, 1, 42, 124, 125, 126, 127, 137, 255].map((code): Claim => ({
  claim: `an exit code of ${code} is the program's own`,
  run: `exit ${code}`,
  then: { exitCode: code },
}))

const signals = (
  [
    ['SIGHUP', 1],
    ['SIGABRT', 6],
    ['SIGKILL', 9],
    ['SIGSEGV', 11],
    ['SIGPIPE', 13],
    ['SIGTERM', 15],
  ] as const
).map(([name, signal]): Claim => ({
  claim: `a program that dies of ${name} is reported with that signal`,
  run: `kill -${signal} $$`,
  then: { signal },
}))

export const endings: Area = area('How a call ends', [
  ...ownExitCodes,
  ...signals,
  {
    claim: "a signal that kills a child is the program's to report, and does not end the call",
    run: "sh -c 'kill -9 $$'; exit $?",
    then: { exitCode: 137 },
  },
  {
    claim: 'a program starts with no signal ignored or blocked',
    run: ['/bin/grep', '-E', '^Sig(Blk|Ign):', '/proc/self/status'],
    then: { stdout: 'SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n' },
  },
  {
    claim: 'a call ends with its program, also when a background process keeps the output open',
    run: 'sleep 300 & echo over',
    then: { stdout: 'over\n' },
  },
  {
    claim: 'a program name that is not in the search path is refused',
    run: ['no-such-program-here'],
    then: { refused: 'program-not-found' },
  },
  { claim: 'a missing program is refused', run: ['@/nothing'], then: { refused: 'program-not-found' } },
  {
    claim: 'a file that is not executable is refused',
    given: { '@/text': 'x' },
    run: ['@/text'],
    then: { refused: 'program-not-executable' },
  },
  {
    claim: 'a folder as the program is refused',
    given: { '@/folder/': '' },
    run: ['@/folder'],
    then: { refused: 'program-not-executable' },
  },
  {
    claim: 'a script whose interpreter is missing is refused as not found',
    given: { '@/script': { program: '#!/no/such/interpreter\n' } },
    run: ['@/script'],
    then: { refused: 'program-not-found' },
  },
  {
    claim: 'an executable file that is not a program is refused',
    given: { '@/odd': { program: '\u0001\u0002\u0003' } },
    run: ['@/odd'],
    then: { refused: 'program-not-executable' },
  },
  { claim: 'an empty command is refused', run: [], then: { refused: 'usage-error' } },
  {
    claim: 'a NUL byte in an argument is refused, not cut',
    run: ['/bin/echo', 'a\0b'],
    then: { refused: 'plan-rejected' },
  },
  {
    claim: 'a program outside every grant can be the command, without the files beside it',
    given: { '@/bin/own': { program: '#!/bin/sh\ncat @/bin/beside || echo mine\n' }, '@/bin/beside': 'other' },
    run: ['@/bin/own'],
    then: { stdout: 'mine\n' },
  },
  {
    claim: 'arguments arrive byte for byte: empty, blank, with quotes, line breaks, Unicode, and long',
    tell: async ({ run }) => {
      const words = ['', ' ', '"', "'", '\\', '\n', '$HOME', '*', '-n', 'ä', '日本', '😀', 'x'.repeat(100_000)]
      const { stdout } = await run(['/usr/bin/printf', '%s\\0', ...words])
      expect(textOf(stdout).split('\0').slice(0, -1)).toEqual(words)
    },
  },
  {
    claim: 'thousands of arguments arrive',
    tell: async ({ run }) => {
      const { stdout } = await run(['/bin/sh', '-c', 'echo $#', 'sh', ...Array.from({ length: 20_000 }, String)])
      expect(textOf(stdout)).toBe('20000\n')
    },
  },
  {
    claim: 'more arguments than the kernel takes are refused with that reason',
    tell: async ({ refusal }) => {
      expect(await refusal(['/bin/true', ...Array.from({ length: 40 }, () => 'x'.repeat(120_000))])).toMatchObject({
        code: 'program-not-executable',
        params: { problem: 'Argument list too long' },
      })
    },
  },
  {
    claim: 'a call reports its usage: time, processor, memory',
    tell: async ({ run }) => {
      const { usage } = await run('i=0; while [ $i -lt 60000 ]; do i=$((i + 1)); done; sleep 0.05')
      expect(usage.wallMs).toBeGreaterThanOrEqual(50)
      expect(usage.cpuMs).toBeGreaterThan(0)
      expect(usage.maxResidentBytes).toBeGreaterThan(100_000)
    },
  },
])
