// Fetches a kernel of the distribution for the virtual machine of packages/core/test/vm, without installing it.
import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
const KERNEL = join(ROOT, 'build', 'vm', 'vmlinuz')

// Small kernels for cloud machines: Debian's name, then Ubuntu's.
const CLOUD_KERNELS = [`linux-image-cloud-${process.arch === 'x64' ? 'amd64' : process.arch}`, 'linux-image-virtual']

const output = (program, args, cwd = '/') =>
  spawnSync(program, args, { cwd, encoding: 'utf8', maxBuffer: 1 << 26 }).stdout ?? ''

/** The package with the kernel itself, on which the one with the stable name depends. */
const packageOf = (name) => /Depends:\s*(linux-image-\d\S*)/.exec(output('apt-cache', ['depends', name]))?.[1]

const findPackage = () => CLOUD_KERNELS.map(packageOf).find((name) => name !== undefined)

/** Returns whether there is a kernel. */
export const provideKernel = () => {
  if (existsSync(KERNEL)) return true
  if (process.getuid?.() === 0 && findPackage() === undefined)
    spawnSync('apt-get', ['update', '-q'], { stdio: 'inherit' })
  const name = findPackage()
  if (name === undefined) return false
  const folder = mkdtempSync(join(tmpdir(), 'cordon-kernel-'))
  try {
    output('apt-get', ['download', '-q', name], folder)
    const archive = readdirSync(folder).find((file) => file.endsWith('.deb'))
    if (archive === undefined) return false
    spawnSync('dpkg-deb', ['--extract', archive, 'files'], { cwd: folder, stdio: 'inherit' })
    const boot = join(folder, 'files', 'boot')
    const kernel = existsSync(boot) ? readdirSync(boot).find((file) => file.startsWith('vmlinuz')) : undefined
    if (kernel === undefined) return false
    mkdirSync(dirname(KERNEL), { recursive: true })
    copyFileSync(join(boot, kernel), KERNEL)
    return true
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href && !provideKernel()) {
  process.stderr.write(`vm-kernel: none of ${CLOUD_KERNELS.join(', ')} could be had by apt-get\n`)
  process.exitCode = 1
}
