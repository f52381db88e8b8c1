import { pathToFileURL } from 'node:url'

import { ENTRIES } from '../entries.mjs'

export const resolve = (specifier, context, next) => {
  const module = ENTRIES.get(specifier)
  return module === undefined ? next(specifier, context) : { url: pathToFileURL(module).href, shortCircuit: true }
}
