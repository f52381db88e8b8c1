import { lstatSync, realpathSync } from 'node:fs'
import { dirname } from 'node:path'

import { isExecutable } from '../grants/object-at.js'

type TrustedProgram =
  { readonly kind: 'found'; readonly path: string } | { readonly kind: 'refused'; readonly problem: string }

const FOLDERS = ['/usr/bin', '/bin', '/usr/local/bin']
const WRITABLE_BY_OTHERS = 0o022

/** A program of the system that only root can replace. It builds the boundary, so nobody else may choose it. */
export const trustedProgram = (name: string): TrustedProgram => {
  const found = FOLDERS.map((folder) => `${folder}/${name}`).find(isExecutable)
  if (found === undefined) return { kind: 'refused', problem: `${name} is not installed (${FOLDERS.join(', ')})` }
  const path = realpathSync(found)
  const replaceable = [path, ...foldersAbove(path)].find((at) => {
    const { uid, mode } = lstatSync(at)
    return uid !== 0 || (mode & WRITABLE_BY_OTHERS) !== 0
  })
  return replaceable === undefined
    ? { kind: 'found', path }
    : { kind: 'refused', problem: `others than root can change ${replaceable}` }
}

const foldersAbove = (path: string): readonly string[] => {
  const parent = dirname(path)
  return parent === path ? [] : [parent, ...foldersAbove(parent)]
}
