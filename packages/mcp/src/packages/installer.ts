import type { PresetName } from 'cordon/policy'
import type { Environment } from 'cordon/commands'

import type { CellOrder, RunStep } from './install-cell.js'
import type { LockEntry } from './lock-file.js'
import type { PackageCall } from './package-words.js'

/** How packages of one source are installed and started. Folders are new and empty, or installed. */
export interface Installer {
  /** What the cell of its servers needs to find the interpreter. */
  readonly presets: readonly PresetName[]
  readonly order: (folder: string, environment: Environment) => CellOrder
  /** Finds out what the words mean now. With `files` it also installs that. */
  readonly resolve: (call: PackageCall, folder: string, run: RunStep, depth: 'names' | 'files') => Promise<LockEntry>
  /** Installs exactly the entry. */
  readonly install: (call: PackageCall, entry: LockEntry, folder: string, run: RunStep) => Promise<void>
  /** The words that start its program, without the network. */
  readonly start: (call: PackageCall, folder: string, environment: Environment) => readonly string[]
}
