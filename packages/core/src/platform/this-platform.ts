import { DARWIN } from './darwin.js'
import { LINUX } from './linux.js'
import type { Platform } from './platform.js'

export const platformOf = (name: string): Platform =>
  name === 'linux' ? LINUX : name === 'darwin' ? DARWIN : { ...DARWIN, name, label: name }

export const PLATFORM: Platform = platformOf(process.platform)
