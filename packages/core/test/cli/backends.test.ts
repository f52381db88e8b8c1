// The backend of a cell: on this host, and inside another cell, where walls get no namespaces either.
import { readlinkSync, realpathSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { CORE, REPOSITORY } from '../../../../test/repository.js'
import { needs } from '../../../../test/requirement.js'
import { CORDON, cordon } from './cordon.js'

const PID_NAMESPACE = '/proc/self/ns/pid'
const GRANTS = [CORE, realpathSync(join(REPOSITORY, 'node_modules')), process.execPath].flatMap((path) => [
  '--read',
  path,
])

const runInCell = (...words: readonly string[]) =>
  cordon(['run', '--quiet', ...GRANTS, '--', process.execPath, CORDON, 'run', '--quiet', ...words], { cwd: '/' })

describe('on this host', () => {
  test.for(['bubblewrap', 'firejail'])('%s makes the namespaces of a command', (backend, context) => {
    const { status, stdout, stderr } = cordon(['run', '--quiet', '--backend', backend, '--', 'readlink', PID_NAMESPACE])
    needs(context, !stderr.includes('host-cannot-hold'), stderr)
    expect(status).toBe(0)
    expect(stdout.trim()).not.toBe(readlinkSync(PID_NAMESPACE))
  })
})

describe('inside a cell', () => {
  test.each(['bubblewrap', 'firejail'])('%s is refused with its own words', (backend) => {
    const { status, stderr } = runInCell('--backend', backend, '--', 'echo', 'ran')
    expect(status).toBe(125)
    expect(stderr).toContain(`host-cannot-hold: this host cannot provide ${backend}: `)
  })

  test('auto passes walls over, and runs the command', () => {
    const { status, stdout } = runInCell('--', 'echo', 'ran')
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'ran\n' })
  })
})
