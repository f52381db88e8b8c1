// Puts a compiled launcher into its package: packages/launcher-linux-*/bin for this checkout, and
// build/npm/launcher-linux-*/ as the folder that is published.
//
// The two differ in `os` and `cpu`. npm refuses a checkout that has a workspace for another platform
// (workspaces are never optional to it), so in git they wait in publishConfig, the package is private,
// and only the published folder carries them where npm looks.
import { chmodSync, copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const place = (binary, folder) => {
  mkdirSync(folder, { recursive: true })
  copyFileSync(binary, join(folder, 'cordon-cell'))
  chmodSync(join(folder, 'cordon-cell'), 0o755)
}

export const packLauncher = (root, nodeArch, binary) => {
  const name = `launcher-linux-${nodeArch}`
  const workspace = join(root, 'packages', name)
  place(binary, join(workspace, 'bin'))

  const published = join(root, 'build', 'npm', name)
  rmSync(published, { recursive: true, force: true })
  place(binary, join(published, 'bin'))
  copyFileSync(join(root, 'LICENSE'), join(published, 'LICENSE'))
  const { private: _, publishConfig, ...manifest } = JSON.parse(readFileSync(join(workspace, 'package.json'), 'utf8'))
  writeFileSync(join(published, 'package.json'), `${JSON.stringify({ ...manifest, ...publishConfig }, null, 2)}\n`)
  return published
}
