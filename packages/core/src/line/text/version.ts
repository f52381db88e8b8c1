import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { PACKAGE_FOLDER } from '../../platform/index.js'

export const version = (): string => {
  const file = readFileSync(join(PACKAGE_FOLDER, 'package.json'), 'utf8')
  return (JSON.parse(file) as { readonly version: string }).version
}
