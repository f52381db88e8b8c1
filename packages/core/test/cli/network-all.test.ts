import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { describeForms, temporaryFolder } from './cordon.js'

const folder = temporaryFolder()

describeForms('network all', (run, form) => {
  const policy = (text: string): string => {
    const path = join(folder, `${form}.yaml`)
    writeFileSync(path, text)
    return path
  }

  test('cannot be read-only, because nothing would enforce it', () => {
    const { status, stderr } = run(['--policy', policy('network: all\negress_class: read_only\n'), '--', 'true'])
    expect(status).toBe(125)
    expect(stderr).toContain('network-grant-unsupported')
    expect(stderr).toContain('fix: name the hosts')
  })

  test('is granted without a class', () => {
    expect(run(['--policy', policy('network: all\n'), '--', 'true'])).toEqual({ status: 0, stdout: '', stderr: '' })
  })
})
