// The files of deploy/, and what they share.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { CORE } from '../repository.js'

export const ROOT = join(import.meta.dirname, '..', '..')
export const DEPLOY = join(ROOT, 'deploy')

export const deployFile = (name: string): string => readFileSync(join(DEPLOY, name), 'utf8')

const { version } = JSON.parse(readFileSync(join(CORE, 'package.json'), 'utf8')) as { readonly version: string }
/** The image that deploy/Dockerfile builds. */
export const IMAGE = `cordon:${version}`
