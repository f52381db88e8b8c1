// Puts a compiled launcher into its package: packages/launcher-linux-*/bin for this checkout, and
// build/npm/launcher-linux-*/ as the folder that is published.
//
// Only the published folder has `os` and `cpu` where npm reads them. In git they are in publishConfig of a private
// package, because npm refuses a checkout with a workspace for another platform.
import { chmodSync, copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const place = (binary, folder) => {
  mkdirSync(folder, { recursive: true })
  copyFileSync(binary, join(folder, 'cordon-cell'))
  chmodSync(join(folder, 'cordon-cell'), 0o755)
}

export const packLauncher = (root, nodeArch, binary) => {
  const name = `launcher-linux-${nodeArch}`
  const workspace = join(root, '..', name)
  place(binary, join(workspace, 'bin'))

  const published = join(root, 'build', 'npm', name)
  rmSync(published, { recursive: true, force: true })
  place(binary, join(published, 'bin'))
  copyFileSync(join(root, '..', '..', 'LICENSE'), join(published, 'LICENSE'))
  const { private: _, publishConfig, ...manifest } = JSON.parse(readFileSync(join(workspace, 'package.json'), 'utf8'))
  writeFileSync(join(published, 'package.json'), `${JSON.stringify({ ...manifest, ...publishConfig }, null, 2)}\n`)
  return published
}
