import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { processEndingOf } from '../../src/runtime/events/process-ending.js'
import { processTool } from '../../src/runtime/index.js'
import type { Violation } from '../../src/sandbox/index.js'

import { eventsOf, openStage } from './stage.js'

const { newFolder, cordon } = openStage()

const PLANTED: Violation = {
  kind: 'protected',
  deed: 'set-aside',
  path: '/w/.git/hooks/pre-commit',
  aside: '/w/.git/hooks/pre-commit.cordon',
  restore: 'mv',
}

describe('the end of a process', () => {
  test('is a kill by Cordon only if Cordon killed it and something protected was touched', () => {
    expect(processEndingOf({ status: 'signaled', signal: 9 }, [PLANTED])).toMatchObject({
      because: 'violation',
      signal: 9,
    })
    expect(processEndingOf({ status: 'signaled', signal: 9 }, [{ kind: 'exec', path: '/bin/x' }])).toMatchObject({
      because: 'signal',
      signal: 9,
    })
    expect(processEndingOf({ status: 'signaled', signal: 11 }, [PLANTED])).toMatchObject({
      because: 'signal',
      signal: 11,
    })
    expect(processEndingOf({ status: 'limit', limit: 'memory', signal: 9 }, [PLANTED])).toMatchObject({
      because: 'limit',
      limit: 'memory',
    })
    expect(processEndingOf({ status: 'exited', exitCode: 0 }, [PLANTED])).toEqual({ kind: 'completed', exitCode: 0 })
  })

  test('is its own signal if it plants a hook in a new repository and crashes, but never a success', async () => {
    const workspace = join(newFolder(), 'w')
    mkdirSync(workspace)
    const repository = 'deep/repository/.git'
    const plant = [
      `mkdir -p ${repository}/hooks ${repository}/objects ${repository}/refs`,
      `echo 'ref: refs/heads/main' > ${repository}/HEAD`,
      `printf '#!/bin/sh\\n' > ${repository}/hooks/pre-commit`,
      `chmod +x ${repository}/hooks/pre-commit`,
    ].join(' && ')
    const sh = processTool({
      name: 'sh',
      policy: { risk: 'low', filesystem: { write: ['.'] } },
      argumentGate: 'off',
      command: ({ script }: { readonly script: string }) => ['/bin/sh', '-c', script],
    })
    const runtime = await cordon({ tools: [sh], workspace })
    const seen = eventsOf(runtime)
    const result = await runtime.call('sh', { script: `${plant} && kill -SEGV $$` })
    expect(result.status).toBe('violated')
    expect(seen.find(({ type }) => type === 'process.terminated')).toMatchObject({ because: 'signal', signal: 11 })
    expect(seen.find(({ type }) => type === 'sandbox.violation')).toMatchObject({ violation: { kind: 'protected' } })
    expect(existsSync(join(workspace, repository, 'hooks', 'pre-commit'))).toBe(false)
  })
})
