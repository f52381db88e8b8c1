// Settings of agents that Cordon only reads. A file that cannot be read is an obstacle: nobody knows what it turns off.
import { dirname } from 'node:path'

import { parse as parseToml } from 'smol-toml'

import { messageOf } from '../../errors/index.js'
import { isMapping } from '../../shapes/index.js'

import { parseJson, valueAt } from '../../settings/json-text.js'
import { steersPrograms } from '../../settings/steering-variables.js'
import type { Obstacle } from '../agent.js'
import { readSettings } from '../settings-place.js'

export interface OtherSettings {
  readonly file: string
  /** Undefined without a file, and if it cannot be read. */
  readonly values: Readonly<Record<string, unknown>> | undefined
  readonly obstacles: readonly Obstacle[]
}

export const jsonSettings = (file: string): OtherSettings => settingsIn(file, parseJson)
export const tomlSettings = (file: string): OtherSettings => settingsIn(file, parseToml)

const settingsIn = (file: string, parse: (text: string) => unknown): OtherSettings => {
  try {
    const text = readSettings(file)
    const value = text.trim() === '' ? {} : parse(text)
    if (!isMapping(value)) throw new Error('it is not an object')
    return { file, values: value, obstacles: [] }
  } catch (error) {
    const problem = `${file} cannot be read, and may turn hooks off: ${messageOf(error)}`
    return { file, values: undefined, obstacles: [{ problem, fix: 'correct the file' }] }
  }
}

/** The value at some keys. Undefined if a part of the way is missing or no mapping. */
export const settingAt = ({ values }: OtherSettings, ...keys: readonly string[]): unknown => valueAt(values, [...keys])

/** The first of these files that sets the value decides. */
export const decidingFile = (
  files: readonly OtherSettings[],
  ...keys: readonly string[]
): { readonly file: string; readonly value: unknown } | undefined => {
  const deciding = files.find((file) => settingAt(file, ...keys) !== undefined)
  return deciding === undefined ? undefined : { file: deciding.file, value: settingAt(deciding, ...keys) }
}

/** For variables that a file of a project sets for its agent. `own`: those by which the agent itself is steered. */
export const variableObstacles = (
  file: string,
  variables: readonly string[],
  own: readonly string[] = [],
): readonly Obstacle[] =>
  variables
    .filter((variable) => steersPrograms(variable) || own.includes(variable))
    .map((variable) => ({
      problem: `${file} sets ${variable}, which can change what runs as the hook, and what it allows`,
      fix: `remove ${variable} from ${file}; if you need it, set it before you start the agent`,
    }))

/** A folder and those above it, the nearest first. */
export const upwards = (folder: string): readonly string[] =>
  dirname(folder) === folder ? [folder] : [folder, ...upwards(dirname(folder))]
