import { basename } from 'node:path'

import type { SourceFile } from './source-tree.js'

const MAX_LINES = 400
/** Tests are tables of cases, of which Prettier puts many into several lines. */
const MAX_LINES_OF_TESTS = 640
const KEBAB_CASE = /^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z]+)+$/
const VAGUE = /(^|[/-])(utils?|common|helpers?|misc|manager)([/.-]|$)/

export const fileViolations = (files: readonly SourceFile[]): readonly string[] =>
  files.flatMap(({ path, text }) => {
    const lines = text.split('\n').length - 1
    const most = /^(?:packages\/[^/]+\/)?test\//.test(path) ? MAX_LINES_OF_TESTS : MAX_LINES
    return [
      ...(/\.[ch]$/.test(path) || KEBAB_CASE.test(basename(path)) ? [] : [`${path}: file names are kebab-case`]),
      ...(VAGUE.test(path) ? [`${path}: the name says nothing about what is inside`] : []),
      ...(lines > most ? [`${path}: ${lines} lines, more than ${most}`] : []),
    ]
  })
