// Fetches Debian's Docker for `npm run test:docker`, and runs the tests of containers with it. It installs nothing on
// this machine. They need root.
import { execFileSync, spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'

import { TEST_CACHE } from './npm-programs.mjs'

const PROGRAMS = join(TEST_CACHE, 'docker')
const PACKAGES = ['docker.io', 'containerd', 'runc']
const NEEDED = ['bin/docker', 'sbin/dockerd', 'bin/containerd', 'bin/containerd-shim-runc-v2', 'sbin/runc']

const provide = () => {
  if (existsSync(PROGRAMS)) return
  const made = `${PROGRAMS}.${process.pid}`
  mkdirSync(join(made, 'programs'), { recursive: true })
  try {
    execFileSync('apt-get', ['download', '-q', ...PACKAGES], { cwd: made, stdio: 'inherit' })
    for (const name of readdirSync(made).filter((each) => each.endsWith('.deb')))
      execFileSync('dpkg-deb', ['--extract', name, made], { cwd: made })
    for (const path of NEEDED)
      copyFileSync(join(made, 'usr', path), join(made, 'programs', path.slice(path.lastIndexOf('/') + 1)))
    renameSync(join(made, 'programs'), PROGRAMS)
  } finally {
    rmSync(made, { recursive: true, force: true })
  }
}

provide()
// Some tests start the built command line. The others have to try the same code.
const env = { ...process.env, CORDON_TEST_DOCKER: PROGRAMS, CORDON_TEST_BUILT: '1' }
const { status } = spawnSync('npx', ['vitest', 'run', 'packages/core/test/containers'], { stdio: 'inherit', env })
process.exitCode = status ?? 1
