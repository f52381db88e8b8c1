import { createHash, randomBytes } from 'node:crypto'

import { expect } from 'vitest'

import { area } from '../claim.js'
import type { Area } from '../claim.js'
import { textOf } from '../stage.js'
import { exitCodeOf } from '../../../../../test/ending.js'

const MEGABYTE = 1 << 20

const digest = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

const everyByte = Uint8Array.from({ length: 256 }, (_, byte) => byte)

export const streams: Area = area('Streams', [
  { claim: 'without input the program reads the end of file at once', run: 'cat; echo end', then: { stdout: 'end\n' } },
  {
    claim: 'with empty input the program reads the end of file at once',
    run: 'cat; echo end',
    stdin: '',
    then: { stdout: 'end\n' },
  },
  { claim: 'text passes through unchanged', run: ['/bin/cat'], stdin: 'grüße\n', then: { stdout: 'grüße\n' } },
  {
    claim: 'stdout and stderr stay separate',
    run: 'echo out; echo err >&2',
    then: { stdout: 'out\n', stderr: 'err\n' },
  },
  {
    claim: 'a program that closes its output early keeps its exit code',
    run: 'exec >&- 2>&-; exit 5',
    then: { exitCode: 5, stdout: '', stderr: '' },
  },
  {
    claim: 'a program may read its input again from /dev/stdin and write to /dev/stderr',
    run: 'cat /dev/stdin; echo e > /dev/stderr',
    stdin: 'in',
    then: { stdout: 'in', stderr: 'e\n' },
  },
  {
    claim: 'every byte value passes, on all three streams',
    tell: async ({ run }) => {
      const { stdout, stderr } = await run('tee /dev/stderr', { stdin: everyByte })
      expect(Buffer.from(stdout)).toEqual(Buffer.from(everyByte))
      expect(Buffer.from(stderr)).toEqual(Buffer.from(everyByte))
    },
  },
  {
    claim: '10 MB pass in both directions at the same time',
    tell: async ({ run }) => {
      const stdin = randomBytes(10 * MEGABYTE)
      const { stdout, status } = await run(['/bin/cat'], { stdin })
      expect({ status, digest: digest(stdout) }).toEqual({ status: 'exited', digest: digest(stdin) })
    },
  },
  {
    claim: '100 MB of input arrive completely',
    tell: async ({ run }) => {
      const stdin = Buffer.alloc(100 * MEGABYTE, 'cordon ')
      const { stdout, status } = await run(['/usr/bin/sha256sum'], { stdin })
      expect({ status, stdout: textOf(stdout) }).toEqual({ status: 'exited', stdout: `${digest(stdin)}  -\n` })
    },
  },
  {
    claim: '10 MB of output on each stream arrive completely',
    tell: async ({ run }) => {
      const { stdout, stderr } = await run(
        `head -c ${10 * MEGABYTE} /dev/zero & head -c ${10 * MEGABYTE} /dev/zero >&2; wait`,
      )
      expect([stdout.length, stderr.length]).toEqual([10 * MEGABYTE, 10 * MEGABYTE])
    },
  },
  {
    claim: 'output written right before the end is not lost',
    tell: async ({ run }) => {
      const { stdout } = await run(`head -c ${3 * MEGABYTE} /dev/zero; exit 0`)
      expect(stdout.length).toBe(3 * MEGABYTE)
    },
  },
  {
    claim: 'a program may stop reading before 10 MB of input are through',
    tell: async ({ run }) => {
      const result = await run(['/usr/bin/head', '-c', '3'], { stdin: Buffer.alloc(10 * MEGABYTE, 'abc') })
      expect({ stdout: textOf(result.stdout), exitCode: exitCodeOf(result) }).toEqual({ stdout: 'abc', exitCode: 0 })
    },
  },
  {
    claim: 'a program may close its input before 10 MB are through, and continue',
    tell: async ({ run }) => {
      const result = await run('exec <&-; sleep 0.1; echo on', { stdin: Buffer.alloc(10 * MEGABYTE) })
      expect({ stdout: textOf(result.stdout), exitCode: exitCodeOf(result) }).toEqual({ stdout: 'on\n', exitCode: 0 })
    },
  },
  {
    claim: 'a program may end without reading any of 10 MB',
    tell: async ({ run }) => {
      expect(await run(['/bin/true'], { stdin: Buffer.alloc(10 * MEGABYTE) })).toMatchObject({
        status: 'exited',
        exitCode: 0,
      })
    },
  },
  {
    claim: 'output can be streamed in order, and is then not collected',
    tell: async ({ run }) => {
      const chunks: string[] = []
      const result = await run('for i in 1 2 3; do echo $i; sleep 0.02; done', {
        onStdout: (bytes) => chunks.push(textOf(bytes)),
      })
      expect(chunks.join('')).toBe('1\n2\n3\n')
      expect(chunks.length).toBeGreaterThan(1)
      expect(result.stdout).toHaveLength(0)
    },
  },
  {
    claim: 'output arrives while the program runs',
    tell: async ({ run }) => {
      const abort = new AbortController()
      const call = run('echo first; sleep 300', {
        signal: abort.signal,
        onStdout: () => {
          abort.abort()
        },
      })
      await expect(call).rejects.toMatchObject({ code: 'cancelled' })
    },
  },
])
