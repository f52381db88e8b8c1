// Separate folders for the log and rules of `cordon run`, so that tests do not use those of the user.
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'

import { afterAll } from 'vitest'

const folder = realpathSync(mkdtempSync('/var/tmp/cordon-own-'))
afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
})

export const STATE_FOLDER = join(folder, 'state', 'cordon')
export const CONFIG_FOLDER = join(folder, 'config', 'cordon')

export const OWN_FOLDERS = { XDG_STATE_HOME: join(folder, 'state'), XDG_CONFIG_HOME: join(folder, 'config') }
