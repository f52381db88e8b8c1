import { describe, expect, it } from 'vitest'

import { isReadable, isWritable } from '../../src/policy/index.js'

import { boundaryOf, path } from './places.js'

const access = (filesystem: unknown, text: string) => {
  const boundary = boundaryOf({ filesystem })
  return `${isReadable(boundary, path(text)) ? 'r' : '-'}${isWritable(boundary, path(text)) ? 'w' : '-'}`
}

describe('access', () => {
  it.each([
    ['nothing is granted by default', {}, '/data/a', '--'],
    ['read grants reading only', { read: ['/data/**'] }, '/data/a', 'r-'],
    ['write implies read', { write: ['/out/**'] }, '/out/a', 'rw'],
    ['a carve-out of read takes the write too', { read: ['!/out/key'], write: ['/out/**'] }, '/out/key', '--'],
    ['a carve-out of write takes what write implied', { write: ['/out/**', '!/out/log'] }, '/out/log/1', '--'],
    [
      'a carve-out of write leaves a read grant alone',
      { read: ['/out/**'], write: ['/out/**', '!/out/log'] },
      '/out/log/1',
      'r-',
    ],
    ['deny wins in any order', { read: ['!/data/key', '/data/**'] }, '/data/key', '--'],
    ['next to a carve-out everything stays', { read: ['!/data/key', '/data/**'] }, '/data/keys', 'r-'],
    ['the system is readable', {}, '/usr/lib/libc.so.6', 'r-'],
    ['the system can be carved out too', { read: ['!/usr/local/etc'] }, '/usr/local/etc/x', '--'],
    ['secrets of the system are not part of it', {}, '/etc/shadow', '--'],
    [
      'a protected name stays readable in a write root',
      { write: ['.'] },
      '/home/ann/project/.git/hooks/pre-commit',
      'r-',
    ],
  ])('%s', (_, filesystem, text, expected) => {
    expect(access(filesystem, text)).toBe(expected)
  })
})
