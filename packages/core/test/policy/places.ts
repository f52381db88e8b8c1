import { bindGlob, parseAbsolutePath, parsePathGlob, parsePolicy, resolvePolicy } from '../../src/policy/index.js'
import type { AbsolutePath, Boundary, PathPattern } from '../../src/policy/index.js'

export const path = (text: string): AbsolutePath => parseAbsolutePath(text)

export const PLACES = { workspace: path('/home/ann/project'), home: path('/home/ann') }

export const patterns = (glob: string): readonly PathPattern[] => bindGlob(parsePathGlob(glob, 'test'), PLACES)

export const boundaryOf = (policy: unknown, kind: 'process' | 'function' = 'process'): Boundary =>
  resolvePolicy(parsePolicy(policy, 'test'), { ...PLACES, kind })
