import { describe, expect, it } from 'vitest'

import { CordonError, bug, fail } from '../../src/errors/index.js'

describe('fail', () => {
  it('fills every text of the table with the parameters', () => {
    const error = fail('path-is-symlink', { path: '/data', real: '/mnt/data' })
    expect(error).toBeInstanceOf(CordonError)
    expect(error.code).toBe('path-is-symlink')
    expect(error.message).toBe('the granted path /data is or contains a symbolic link')
    expect(error.fix).toBe('grant the real path: /mnt/data')
  })

  it('keeps host paths out of the text for the model', () => {
    expect(fail('path-missing', { path: '/home/alice/.ssh', fix: '' }).agentMessage).not.toContain('alice')
  })

  it('does not expand a parameter that looks like a placeholder', () => {
    expect(fail('path-is-symlink', { path: '{real}', real: '/secret' }).message).toContain('path {real} is')
  })

  it('has no fix if the parameter of the fix is empty', () => {
    expect(fail('usage-error', { problem: 'no command', fix: '' }).fix).toBeUndefined()
  })

  it('keeps the cause', () => {
    const cause = new Error('ENOENT')
    expect(fail('file-unreadable', { path: 'p', problem: 'x', fix: '' }, cause).cause).toBe(cause)
  })

  it('throws a bug if a parameter is missing', () => {
    // @ts-expect-error the parameter is missing
    expect(() => fail('path-missing', {})).toThrow('bug in cordon')
  })
})

describe('bug', () => {
  it('throws an error that is not a CordonError, so that nobody treats it as a refusal', () => {
    expect(() => bug('impossible')).toThrow('bug in cordon: impossible')
    expect(() => bug('impossible')).not.toThrow(CordonError)
  })
})
