// Writes dist/contents.json: the hashes of what the command line runs from. `cordon hook install` and `cordon mcp
// install` compare before they copy it.
import { existsSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { CONTENTS_FILE, filesBelow, hashFile, hashPackage, nameAndVersion } from '../dist/cli/program/contents.js'
import { packagesFrom } from '../dist/runtime/own-files/index.js'

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)))
const PARTS = [
  ...['package.json', 'bin', 'policies', 'sql', 'scripts/cache-code.mjs', 'dist/store/image.tar.gz'],
  ...['answers.json', 'bridge', 'command-line', 'separate'].map((name) => `dist/bundle/${name}`),
  'dist/runtime/function-cell',
]

const paths = PARTS.filter((part) => existsSync(join(ROOT, part))).flatMap((part) =>
  statSync(join(ROOT, part)).isDirectory() ? filesBelow(join(ROOT, part)).map((name) => `${part}/${name}`) : [part],
)
const files = Object.fromEntries(
  paths.filter((path) => !/\.cache(?:\.new)?$/.test(path)).map((path) => [path, hashFile(join(ROOT, path))]),
)
// The launcher is built for each platform by itself, and other platforms have another one.
const packages = Object.fromEntries(
  packagesFrom(ROOT, 'needed')
    .filter(({ name }) => name !== 'cordon' && !name.startsWith('@cordon/'))
    .map(({ folder }) => [nameAndVersion(folder), hashPackage(folder)]),
)
writeFileSync(join(ROOT, CONTENTS_FILE), `${JSON.stringify({ files, packages }, undefined, 1)}\n`)
