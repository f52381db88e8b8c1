import { writeFileSync } from 'node:fs'
import path from 'node:path'

// (module (memory (export "memory") 1) (func (export "_start")))
const EMPTY_PROGRAM = Buffer.from(
  '0061736d010000000104016000000302010005030100010713020' + '66d656d6f72790200065f737461727400000a040102000b',
  'hex',
)

/**
 * A WASI module that does nothing.
 * @param {string} folder
 */
export function writeEmptyProgram(folder) {
  const module = path.join(folder, 'empty.wasm')
  writeFileSync(module, EMPTY_PROGRAM)
  return module
}
