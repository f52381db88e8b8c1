// Carries out one command line after the other in this process, as bin/cordon.js does with one.
import { writeSync } from 'node:fs'
import { createRequire } from 'node:module'

const { loadBundle } = createRequire(import.meta.url)('../../bin/load-bundle.js')
const { dispatch } = loadBundle('command-line').exports

/** Cells share the descriptors, and one of their programs may have made them non-blocking. */
const write = (descriptor, text) => {
  for (let rest = Buffer.from(text); rest.length > 0;) {
    try {
      rest = rest.subarray(writeSync(descriptor, rest))
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error
    }
  }
}

process.on('disconnect', () => process.exit())
process.on('message', async ({ words, cwd, environment, mark }) => {
  for (const name of Object.keys(process.env)) if (!Object.hasOwn(environment, name)) delete process.env[name]
  Object.assign(process.env, environment)
  process.chdir(cwd)
  const status = await dispatch(words, process.env)
  for (const descriptor of [1, 2]) write(descriptor, mark)
  process.send(status)
})
