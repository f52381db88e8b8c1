import { describe, expect, test } from 'vitest'

import type { CordonError } from '../../src/errors/index.js'
import { chooseForm } from '../../src/sandbox/plan/requirements.js'
import { hostWith, notHeld } from './host-facts.js'

const NO_NAMESPACES = notHeld('EPERM')
const NO_LANDLOCK = { ...notHeld('ENOSYS'), abi: 0 }

const fixOf = (choose: () => unknown): string => {
  try {
    choose()
  } catch (error) {
    return (error as CordonError).fix ?? ''
  }
  throw new Error('nothing was refused')
}

describe('the form that Cordon chooses', () => {
  test('is the strongest that the host holds', () => {
    expect(chooseForm('auto', hostWith())).toBe('namespaces')
    expect(chooseForm('auto', hostWith({ namespaces: NO_NAMESPACES }))).toBe('landlock')
  })

  test('is never the one without Landlock, which the fix names where it works', () => {
    const host = hostWith({ namespaces: NO_NAMESPACES, landlock: NO_LANDLOCK })
    expect(fixOf(() => chooseForm('auto', host))).toContain('--form mounts')
    expect(fixOf(() => chooseForm('auto', { ...host, mounts: NO_NAMESPACES }))).not.toContain('--form mounts')
    expect(chooseForm('mounts', host)).toBe('mounts')
  })

  test('is landlock inside a wall, and others are refused with that fix', () => {
    const wall = { name: 'bubblewrap', brings: [] } as const
    const host = hostWith({ namespaces: NO_NAMESPACES, mounts: NO_NAMESPACES, wall })
    expect(chooseForm('auto', host)).toBe('landlock')
    expect(fixOf(() => chooseForm('namespaces', host))).toContain('--backend auto')
  })
})
