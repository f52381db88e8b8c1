// Gives the tests their own folders for logs and rules, so that they do not use those of the user, and quick starts.
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/** vitest runs this before all tests, and the returned function after them. */
export const setup = (): (() => void) => {
  const folder = realpathSync(mkdtempSync('/var/tmp/cordon-tests-'))
  process.env['XDG_STATE_HOME'] = join(folder, 'state')
  process.env['XDG_CONFIG_HOME'] = join(folder, 'config')
  process.env['XDG_DATA_HOME'] = join(folder, 'data')
  // A local host would outlive the tests, and these folders.
  process.env['CORDON_HOST'] = 'off'
  // For what files of tests find out once and share.
  process.env['CORDON_TESTS_FOLDER'] = folder
  // Node reads these certificates at every start, and needs longer for that than for all the rest of it. Of the
  // programs that the tests start, only npm needs them.
  const { NODE_EXTRA_CA_CERTS: authorities } = process.env
  if (authorities !== undefined) process.env['CORDON_TESTS_AUTHORITIES'] = authorities
  delete process.env['NODE_EXTRA_CA_CERTS']
  return () => {
    rmSync(folder, { recursive: true, force: true })
  }
}
