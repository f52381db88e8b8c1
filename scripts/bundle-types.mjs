// Joins the declarations of each package into one file for each of its entries, and one for what they share.
import { readFileSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { rollup } from 'rollup'
import { dts } from 'rollup-plugin-dts'

const PACKAGES = join(dirname(dirname(fileURLToPath(import.meta.url))), 'packages')

for (const name of process.argv.slice(2)) {
  const folder = join(PACKAGES, name)
  const { exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const input = Object.fromEntries(
    Object.values(exports).flatMap(({ unbundled, types }) =>
      unbundled === undefined ? [] : [[basename(types, '.d.ts'), join(folder, unbundled.replace(/\.js$/, '.d.ts'))]],
    ),
  )
  const out = join(folder, 'dist', 'types')
  rmSync(out, { recursive: true, force: true })
  const bundle = await rollup({
    input,
    external: (path) => !/^[./]/.test(path),
    plugins: [dts()],
    // It tells which types have no name of their own in an entry: the entries say what is public.
    onLog: (level, log) => {
      if (log.plugin !== 'dts') throw new Error(`${level}: ${log.message}`)
    },
  })
  await bundle.write({
    dir: out,
    format: 'es',
    hoistTransitiveImports: false,
    minifyInternalExports: false,
    entryFileNames: '[name].d.ts',
    chunkFileNames: '[name].d.ts',
    manualChunks: (id) => (Object.values(input).includes(id) ? undefined : 'shared'),
  })
  await bundle.close()
}
