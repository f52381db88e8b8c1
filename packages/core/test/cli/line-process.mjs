// Carries out one command line after the other in this process, as bin/cordon.js does with one.
import { writeSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'

const { loadBundle } = createRequire(import.meta.url)('../../bin/load-bundle.js')
const { dispatch } = loadBundle('command-line').exports['command-line']()

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

// Hooks write the path of their program into the commands that they rewrite.
process.argv[1] = fileURLToPath(new URL('../../bin/cordon.js', import.meta.url))

process.on('disconnect', () => process.exit())
/** The stream of this process is empty, and a line that reads it ends it. */
const giveInput = (input) => {
  const bytes = input === undefined ? [] : [Buffer.from(input, 'base64')]
  Object.defineProperty(process, 'stdin', { configurable: true, value: Readable.from(bytes) })
}

process.on('message', async ({ words, cwd, environment, input, mark }) => {
  for (const name of Object.keys(process.env)) if (!Object.hasOwn(environment, name)) delete process.env[name]
  Object.assign(process.env, environment)
  process.chdir(cwd)
  giveInput(input)
  const status = await dispatch(words, process.env)
  for (const descriptor of [1, 2]) write(descriptor, mark)
  process.send(status)
})
