// Writes dist/contents.json of each package that has a program: the hashes of what the command line runs from. `cordon
// hook install` and `cordon mcp install` compare before they copy it.
import { existsSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { CONTENTS_FILE, filesBelow, hashFile, hashPackage, nameAndVersion } from '../dist/hook/program/contents.js'
import { packagesFrom } from '../dist/runtime/own-files/index.js'

const PACKAGES = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
/** Everything that a copy of the program needs. */
const PARTS = {
  core: ['package.json', 'bin', 'policies', 'scripts/cache-code.mjs', 'scripts/write-front.mjs', 'dist/bundle'],
  mcp: ['package.json', 'dist/bundle'],
  manifest: ['package.json', 'dist/bundle'],
  team: ['package.json', 'dist/bundle', 'dist/store/image.tar.gz', 'sql'],
}

for (const [name, parts] of Object.entries(PARTS)) {
  const folder = join(PACKAGES, name)
  if (!existsSync(join(folder, 'dist'))) continue
  const paths = parts
    .filter((part) => existsSync(join(folder, part)))
    .flatMap((part) =>
      statSync(join(folder, part)).isDirectory()
        ? filesBelow(join(folder, part)).map((path) => `${part}/${path}`)
        : [part],
    )
    // A copy loads no project: it has no package of that project.
    .filter((path) => !/\.cache(?:\.new)?$|\/describe\//.test(path))
    // The installation replaces it, and a copy gets its own.
    .filter((path) => path !== 'bin/cordon')
  const files = Object.fromEntries(paths.map((path) => [path, hashFile(join(folder, path))]))
  // The launcher is built for each platform by itself, and other platforms have another one.
  const packages = Object.fromEntries(
    packagesFrom(folder, 'needed')
      .filter((each) => each.folder !== folder && !each.name.startsWith('@cordon/launcher-'))
      .map((each) => [nameAndVersion(each.folder), hashPackage(each.folder)]),
  )
  writeFileSync(join(folder, CONTENTS_FILE), `${JSON.stringify({ files, packages }, undefined, 1)}\n`)
}
