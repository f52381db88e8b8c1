// Carries out several command lines in one process, one after the other. Behind what each wrote comes the mark.
import { writeSync } from 'node:fs'

import { dispatch } from '../../dist/cli/dispatch.js'

const { mark, lines } = JSON.parse(process.argv[2])
const statuses = []
for (const words of lines) {
  statuses.push(await dispatch(words, process.env))
  for (const descriptor of [1, 2]) writeSync(descriptor, mark)
}
writeSync(3, JSON.stringify(statuses))
