import type { Form } from '../../packages/core/src/policy/index.js'

export interface Guest {
  readonly name: string
  /** The architecture as Debian names it, as Node does, and as compilers do. */
  readonly debian: string
  readonly node: 'arm64' | 'x64'
  readonly target: 'aarch64' | 'x86_64'
  /** The release of Debian with its kernel. */
  readonly suite: string
  /** Words of the kernel's command line. */
  readonly words: readonly string[]
  /** The version of Landlock there. 0: none. */
  readonly landlock: number
  /** The forms of the cell that it holds. */
  readonly forms: readonly Form[]
}

export declare const GUESTS: readonly Guest[]
export declare const SHORT_GUESTS: readonly Guest[]
export declare const partsOf: (guest: Guest) => { readonly kernel: string; readonly programs: string }
export declare const provideGuests: (guests: readonly Guest[]) => readonly string[]
