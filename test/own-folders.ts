// `cordon run` keeps a log and looks for rules. In the tests neither is that of the person who runs them.
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/** Run by vitest before everything else; what it returns, after. */
export const setup = (): (() => void) => {
  const folder = realpathSync(mkdtempSync('/var/tmp/cordon-tests-'))
  process.env['XDG_STATE_HOME'] = join(folder, 'state')
  process.env['XDG_CONFIG_HOME'] = join(folder, 'config')
  // For what files of tests find out once and share.
  process.env['CORDON_TESTS_FOLDER'] = folder
  return () => {
    rmSync(folder, { recursive: true, force: true })
  }
}
