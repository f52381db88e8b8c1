import { pathToFileURL } from 'node:url'

import { ENTRIES } from '../entries.mjs'

/** A Cordon that a test installed elsewhere loads its own copy. */
const REPOSITORY = new URL('../../', import.meta.url).href

export const resolve = (specifier, context, next) => {
  const module = context.parentURL?.startsWith(REPOSITORY) === true ? ENTRIES.get(specifier) : undefined
  return module === undefined ? next(specifier, context) : { url: pathToFileURL(module).href, shortCircuit: true }
}
